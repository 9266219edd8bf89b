/** The base of every error of this package, beside those of the Redis client. None ever means that a call may run. */
export class CountersignError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/**
 * A field breaks a rule. Nothing was sent. The message is for example
 * `invalid: card.title: required`, word for word what the bot would answer.
 */
export class Invalid extends CountersignError {
  constructor(
    readonly field: string, // a path such as card.lines[3]; "data" for the whole
    readonly rule: string,
    readonly code: "invalid" | "too_large" = "invalid",
  ) {
    super(`${code}: ${field}: ${rule}`);
  }
}

/** Nobody would be asked, or Redis cannot be reached. From a claim it leaves open whether the claim was made. */
export class Unavailable extends CountersignError {}

/** There is no such approval, or none came of a request. */
export class Unknown extends CountersignError {}

/** Another request, with other terms, stands under this id. */
export class Taken extends CountersignError {}

/** The answer is to other terms or to another call under this id. */
export class NotMine extends CountersignError {}

/** Keys were given, and an answer or undo request bears no signature by one of them. */
export class BadSignature extends CountersignError {}

/** There was no answer in the time that the caller gave. It may still come. */
export class TimedOut extends CountersignError {}

/** A guarded call that had thrown when it ran; it is not run again. */
export class CallFailed extends CountersignError {}

export type ClaimStatus = "unknown" | "wrong_stream" | "pin_mismatch" | "not_approved" | "already_claimed";

/** Redis took a claim and refused it. */
export class ClaimRefused extends CountersignError {
  constructor(
    readonly approvalId: string,
    readonly status: ClaimStatus,
  ) {
    super(`claim of ${approvalId}: ${status}`);
  }
}
