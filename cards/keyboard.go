package cards

import (
	"slices"

	"countersign/approval"
)

// Arguments of the exact-call button.
const (
	ExactHide = 0
	ExactShow = 1
	ExactSend = 2 // too long for a card: send it as a file
)

// mostButtons is how many a card has at most.
const mostButtons = 8

// keyboard draws the rows of buttons. The deciding ones stand first, and each
// row stays where it was when a confirm step opens: Cancel takes the place of
// the action. Yes, and later Undo, stand last, where no button stood.
func (f *face) keyboard(v View) [][]Button {
	if v.Retired {
		return nil
	}
	rows := make([][]Button, 0, mostButtons)
	buttons := make([]Button, 0, mostButtons)
	row := func(b ...Button) {
		at := len(buttons)
		buttons = append(buttons, b...)
		rows = append(rows, buttons[at:len(buttons):len(buttons)])
	}
	if v.decidable() {
		if v.Step == nil {
			row(f.action(v))
		} else {
			row(Button{Text: buttonCancel, Data: Press{LetterCancel, v.CardID, v.Step.Rev, 0}.Data()})
		}
		row(f.button(v, buttonReject, LetterReject, 0))
	}
	// Nobody was asked about what a policy let pass, so its card asks for no look
	// either; only a list that goes on has to be readable.
	if len(f.calls()) > 0 && f.passed() == "" {
		row(f.exactButton(v))
	}
	if n := len(f.layout().pages); n > 1 {
		at := f.index(v.Page)
		row(f.button(v, buttonBack, LetterPage, (at+n-1)%n), f.button(v, buttonForth, LetterPage, (at+1)%n))
	}
	if f.unread() {
		row(f.button(v, buttonWhole, LetterWhole, 0))
	}
	if v.confirming() {
		row(f.yes(v))
	}
	if v.over() && !v.Reader && f.row.CanUndo(v.Now) {
		row(f.button(v, buttonUndo, LetterUndo, 0))
	}
	if len(rows) == 0 {
		return nil
	}
	return rows
}

// unread reports whether no single card shows all lines in full.
func (f *face) unread() bool {
	return len(f.layout().pages) > 1 || slices.Contains(f.layout().cut, true)
}

func (f *face) button(v View, label string, letter byte, arg int) Button {
	return Button{Text: label, Data: Press{letter, v.CardID, f.row.Rev, arg}.Data()}
}

func (f *face) exactButton(v View) Button {
	switch {
	case f.exactAsFile():
		return f.button(v, buttonFile, LetterExact, ExactSend)
	case v.Exact:
		return f.button(v, buttonHide, LetterExact, ExactHide)
	}
	return f.button(v, buttonExact, LetterExact, ExactShow)
}

// action is the button that opens the confirm step.
func (f *face) action(v View) Button {
	b := f.button(v, f.label(), LetterAction, 0)
	b.Style = f.style()
	return b
}

// yes is the button that confirms. It carries the step's revision, so that it
// dies with the step it was drawn for.
func (f *face) yes(v View) Button {
	return Button{
		Text:  f.yesLabel(),
		Data:  Press{LetterYes, v.CardID, v.Step.Rev, 0}.Data(),
		Style: f.style(),
	}
}

func (f *face) style() string {
	if r := f.row.Request; r != nil && r.Effect == approval.Write {
		return "primary"
	}
	return "danger"
}
