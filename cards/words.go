package cards

// Every word a person sees stands in this file. {} is where something of the
// row is put, in its visible form.

// Badge lines.
const (
	badgeDestructive words = "🔴 Deletes data"
	badgeWrite       words = "🟠 Acts for you"
	badgeHalt        words = "⛔ Halted"

	badgeApproved    words = "✅ Approved by {} · {}"
	badgePassed      words = "✅ Passed by policy: {} · {}"
	badgeApprovedBut words = "⚠️ Approved by {} · {}"
	badgePassedBut   words = "⚠️ Passed by policy: {} · {}"
	badgeRejected    words = "❌ Rejected by {} · {}"
	badgeLapsed      words = "⌛ Lapsed · {}"
	badgeWithdrawn   words = "↩️ Withdrawn · {}"
	badgeRefused     words = "🚫 Refused · {}"
)

// Whoever is named in a badge line.
const (
	byCLI     words = "{} at the command line"
	byPolicy  words = "policy"
	byProgram words = "the runtime"
)

// The body.
const (
	wordRetired   words = "Shown again below"
	wordPage      words = "Lines {}–{} of {}, page {} of {}"
	wordCutLine   words = " … (cut: {} more characters)"
	wordAsked     words = "You asked: {}"
	wordSummary   words = "Why it stopped: {}"
	wordCut       words = " (cut: {} more characters)"
	wordUndo      words = "Can be undone; for how long is not known ({})."
	wordUndoDays  words = "Can be undone for {}"
	wordUndoHere  words = ", with an Undo button on the card once it ran"
	wordUndoTool  words = " ({})."
	wordNoUndo    words = "No undo is known."
	wordOneDay    words = "1 day"
	wordDays      words = "{} days"
	wordHidden    words = "⚠️ Careful: hidden characters are shown as codes such as {}."
	wordMasked    words = "🔒 Masked, because it looks secret: {}. The pin covers the real text."
	wordPin       words = "Pin: {}"
	wordExact     words = "Exact call:"
	wordExactOf   words = "Exact calls, {} in all:"
	wordAsFile    words = "The exact call is long: its button sends it as a file."
	wordCallOf    words = "{} of {}"
	wordSmall     words = "#{}"
	wordRisk      words = " · risk {}"
	wordFrom      words = " · from {}"
	wordAstray    words = "Here, because its topic is gone or closed."
	wordDeadline  words = "Unanswered, it lapses {}, and nothing is done."
	wordLapsesOn  words = "Unanswered, it lapses on {}, and nothing is done."
	wordHowTo     words = "Reply {} or {}, or send {}"
	wordTampered  words = "Its record was changed by someone else, so nothing of it is shown."
	wordForgotten words = "Its text was forgotten at the operator's word."
	wordUnsealed  words = "Its record carries no seal, so nothing of it is shown."
)

// While it is open.
const (
	wordNoVotes    words = "Needs {} owners; none has approved yet."
	wordVotes      words = "Approved by {} of {}: {}"
	wordShort      words = "⚠️ Too few owners are left to approve this: {} of the {} that it still needs. It can be answered at the command line."
	wordConfirm    words = "{}, tap Yes below or reply {} to confirm."
	wordElsewhere  words = "{} is confirming this."
	wordCancel     words = "Cancel leaves it open; Reject ends it with a no."
	wordUnseen     words = "⚠️ You have not opened the pages with {} of the {} lines yet."
	wordUnseenCut  words = "⚠️ You have not seen {} of the {} lines in full yet."
	wordUnseenStop words = " Open all pages or the whole list first."
)

// After the answer.
const (
	wordReason      words = "Reason: {}"
	wordNothing     words = "So nothing was changed, sent or deleted."
	wordRunning     words = "⏳ Running…"
	wordDone        words = "✔️ Done"
	wordFailed      words = "❌ Failed"
	wordPartly      words = "⚠️ Partly done"
	wordUndone      words = "↩️ Undone"
	wordResults     words = ": {} of {} lines"
	wordUntold      words = ", {} not reported"
	wordStray       words = "Results for lines that this card does not have: {}"
	wordFailedLines words = "❌ Failed lines: {}"
	wordMoreLines   words = " and {} more"
	wordUnclaimed   words = "⚠️ Not claimed within {} minutes. The runtime may be away, or may not say what it does."
	wordUnreported  words = "⚠️ Claimed {}, but not reported since. It may still be running, or may have failed."
	wordMessage     words = ": {}"
	wordDetail      words = "Line {}: {}"
	wordUndoUntil   words = "Undo until {} ({})"
	wordUndoAsked   words = "Undo asked for by {}."
)

// Buttons.
const (
	buttonApprove = "Approve"
	buttonPrefix  = "Approve: "
	buttonReject  = "Reject"
	buttonCancel  = "Cancel"
	buttonYes     = "Yes: "
	buttonYesHalt = "Yes, approve"
	buttonYesOwn  = "Yes, approve: "
	buttonExact   = "Exact call"
	buttonHide    = "Exact call ✕"
	buttonFile    = "Exact call 📄"
	buttonBack    = "◀"
	buttonForth   = "▶"
	buttonWhole   = "Whole list"
	buttonUndo    = "Undo"
	buttonRef     = "#"
	buttonOpen    = "More that are open"
	buttonLapsed  = "More that lapsed"
)

// Marks before the lines of a report.
const (
	markDone   = "✓ "
	markFailed = "❌ "
)

// mask stands where a secret stood.
const mask = "[masked]"

// Questions and notices.
const (
	wordReplyYes   words = "Reply {} to this message within {} to confirm."
	wordYouReply   words = "{}, reply {} to this message within {} to confirm."
	wordWord       words = "yes"
	wordSeconds    words = "{} s"
	wordMinutes    words = "{} min"
	wordHours      words = "{} h {} min"
	wordNotice     words = "⌛ {}"
	wordLapsed     words = "#{} lapsed unanswered: nothing was changed, sent or deleted. The runtime can ask again as a new request."
	wordLapsedMany words = "⌛ {} approvals lapsed unanswered: nothing was changed, sent or deleted. The runtimes can ask again as new requests."
	wordMore       words = "… and {} more: {}"
	wordItem       words = "#{} {}"
	wordReminder   words = "⏰ {}"
	wordStillOpen  words = "#{} is still open, {} left. Unanswered, it lapses on {}, and nothing is done."
	wordRan        words = "🚨 {}"
	wordRanWhat    words = "#{} was reported as {}, but it was not approved. Look at the runtime {}."
	wordLooser     words = "🔓 The operator changed the configuration: more is allowed now."
	wordLooserOne  words = "• {}"
	wordLooserMore words = "… and {} more; the bot's log has them all."
	wordTamperOne  words = "🚨 The record of approval {} does not bear our seal. It was refused; nothing was approved."
	wordTamperLate words = "🚨 The record of approval {} was changed by someone else after it was answered. The answer stands as the audit has it; nothing more of the record is shown."
	wordHere       words = "Here it is."
)

// Lists and commands.
const (
	wordOpen      words = "Open:"
	wordNoneOpen  words = "Nothing is open here."
	wordWhich     words = "Several are open. Reply to a card, or name one, as in {}:"
	wordEntry     words = "#{} {}"
	wordTimeLeft  words = " · {} left"
	wordCard      words = "card"
	wordEntryCard words = " · {}"
	wordRecent    words = "Lapsed unanswered within a day:"
	wordRest      words = "… and {} more."
	wordNoMore    words = "Nothing more is to be named here."
	wordGoOn      words = "Open, from number {} on:"
	wordGoOnPast  words = "Lapsed unanswered within a day, from number {} on:"
	wordBringDown words = "A reference below brings its card down here."
	wordHelp      words = "Agents ask here before they act. Tap the action on a card and then Yes, or tap Reject."
	wordHelpWords words = "By text: reply {} or {} to a card; after {} you may add a reason. Approving asks once more: reply {}."
	wordHelpRefs  words = "By reference: {} {} {}"
	wordHelpList  words = "{} shows what is open."
	wordNotWord   words = "That decides nothing: only {} or {} as the whole message does."
	wordStart     words = "You are {} ({}) here. Your numeric id is {}."
	wordStartNone words = "You are not on the list here. Your numeric id is {}; the operator can add it."
	wordStartHelp words = "{} says how this works."
)

// Short answers to taps, and the same as replies to words. At most 200
// characters with everything filled in.
const (
	toastNotAllowed  words = "You may not answer this."
	toastReader      words = "You may read this, but not answer it."
	toastStranger    words = "This bot does not know you, so that decides nothing."
	toastUnknown     words = "Unknown here, or gone. /pending shows what is open."
	toastTrying      words = "Not recorded yet; still trying. The card will show the outcome."
	toastStale       words = "The card has changed meanwhile. Look again."
	toastRetired     words = "Shown again below; use that card."
	toastNotOpen     words = "No confirm step is open any more. Tap the action again."
	toastOther       words = "{} is confirming this. Cancel it to confirm it yourself."
	toastOldStep     words = "This button is of an earlier step. Use the newest one."
	toastNotYet      words = "Wait until the card shows the question, then tap Yes."
	toastTooSoon     words = "That was too quick. Read it, then tap Yes again."
	toastWindow      words = "The time to confirm is over. Tap the action again."
	toastMeddled     words = "Its record does not bear our seal. It was refused; nothing was approved."
	toastAltered     words = "Its record was changed by someone else, so nothing is done on the strength of it."
	toastUnseen      words = "You have not seen {} of the {} lines in full yet. Open all pages or the whole list first."
	toastVoted       words = "Your approval counts already: {} of {}."
	toastVote        words = "Your approval counts: {} of {}."
	toastNoUndo      words = "It can no longer be undone."
	toastUndoAsked   words = "{} has asked for the undo."
	toastBelow       words = "Shown below."
	toastFile        words = "Sent as a file."
	toastSamePerson  words = "You are confirming this already. Tap Yes."
	toastApproved    words = "Already approved by {} at {}."
	toastRejected    words = "Already rejected by {} at {}."
	toastLapsed      words = "This lapsed at {}. Nothing was changed, sent or deleted."
	toastWithdrawn   words = "The runtime withdrew this at {}."
	toastRefused     words = "This was refused at {}."
	toastApprovedNow words = "Approved."
	toastRejectedNow words = "Rejected."
	toastBroken      words = "That came to nothing, by a fault of ours. The operator has to look."
	toastOldWord     words = "That word was written too long ago to count. Say it again, or reply to the card."
	toastCancelled   words = "Cancelled. It is still open."
)

// Telegram's menu of commands.
const (
	menuPending words = "What is open, and what lapsed within a day"
	menuShow    words = "Post a card again: /show K7QF2"
	menuApprove words = "Approve by reference: /approve K7QF2"
	menuReject  words = "Reject by reference: /reject K7QF2 too many"
	menuHelp    words = "How to answer"
)

// Files.
const (
	fileTitle  words = "{}"
	fileRef    words = "Approval #{} ({})"
	fileMasked words = "Masked, because it looks secret: {}. The pin covers the real text: {}"
)
