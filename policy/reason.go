package policy

// A Reason is why a request passes or asks. The list is closed; reasons are
// stable codes, for answers, the audit and metrics.
type Reason string

// Reasons to pass.
const (
	AutoNamed      Reason = "auto_named"      // named in auto_approve_tools
	Ceiling        Reason = "ceiling"         // its rank is within the ceiling
	RefinerSelf    Reason = "refiner_self"    // mail to the operator alone
	RefinerAllowed Reason = "refiner_allowed" // mail to nobody but whom the operator allows
)

// Reasons to ask.
const (
	IsHalt            Reason = "halt"
	EmptyName         Reason = "empty_name"
	EffectDestructive Reason = "effect_destructive"
	NoPolicy          Reason = "no_policy"
	RequireNamed      Reason = "require_named" // named in require_approval_tools
	Pinned            Reason = "pinned"
	MCDNeverSilenced  Reason = "mcd_never_silenced" // model_controlled_destination
	IsUnvetted        Reason = "unvetted"
	AboveCeiling      Reason = "above_ceiling"
	NotListed         Reason = "not_listed"    // nothing lets it pass, and there is no ceiling
	BatchSibling      Reason = "batch_sibling" // another call of the same request asks
)

// Reasons of a refiner that proves nothing.
const (
	RefinerUnregistered Reason = "refiner_unregistered" // no refiner of that name
	RefinerElsewhere    Reason = "refiner_recipients_not_in_arguments"
	RefinerUnparseable  Reason = "refiner_unparseable" // arguments that cannot be read in one way only
	RefinerWrapper      Reason = "refiner_wrapper_shape"
	RefinerUnknown      Reason = "refiner_unknown_argument"
	RefinerHeader       Reason = "refiner_routing_header"
	RefinerControl      Reason = "refiner_control_character"
	RefinerNonString    Reason = "refiner_non_string_recipient"
	RefinerEmpty        Reason = "refiner_empty_recipients"
	RefinerNoSelf       Reason = "refiner_no_self_value" // nobody is permitted
	RefinerUnproven     Reason = "refiner_unproven_recipient"
)
