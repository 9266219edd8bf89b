import { type Members, type Node, plain } from "./ijson.js";
import { checkAnswer, toBytes } from "./rules.js";

/** A request that was published. Keep it, as JSON, to await the answer after a restart. */
export interface Pending {
  approval_id: string;
  stream: string;
  entry: string; // the stream entry's id; its time is when Redis took it
  terms: string;
  pin: string; // "" where the calls could not be read
}

export interface Call {
  tool: string;
  arguments: Record<string, unknown>;
  call_id?: string;
}

/** What to ask: the data of approval.requested. docs/protocol.md says what each field means. */
export interface Request {
  approval_id: string;
  kind?: "tool_call" | "halt";
  runtime?: string;
  run_id?: string;
  session?: string;
  tool?: string;
  arguments?: object;
  calls?: { tool: string; arguments: object; call_id?: string }[];
  effect?: "destructive" | "write";
  approval?: "pinned";
  context?: unknown;
  card: Card;
  expires_in?: number; // seconds
  expires_at?: string; // RFC 3339
  risk?: { facts?: Record<string, boolean>; refiner?: string };
}

/** What the owner is shown. */
export interface Card {
  title: string;
  action?: string;
  lines?: string[];
  undo_tool?: string;
  undo_window_days?: number;
  request?: string;
  summary?: string;
}

/** Who answered, or what did. */
export interface By {
  surface: "telegram" | "cli" | "policy" | "sweeper" | "runtime" | "intake";
  id: string;
  name?: string;
  chat_id?: number;
  message_id?: number;
  method?: "button" | "typed";
}

export type Decision = "approved" | "rejected" | "lapsed" | "withdrawn" | "refused";

/** The one answer to a request. */
export interface Answer {
  approval_id: string;
  decision: Decision;
  approved: boolean;
  observation: string; // one plain sentence for the model
  by: By;
  at: string; // RFC 3339
  terms?: string;
  pin?: string;
  calls?: Call[]; // empty for a halt, absent where they could not be read
  context?: unknown;
  reason?: string;
  runtime?: string;
  run_id?: string;
  approvals?: By[]; // under a quorum, all that approved
  shown?: { lines: number; of: number };
  data: string; // the text it came in, signature included
}

/** An owner's wish to have an executed call undone: run undo_tool, and report the outcome undone. */
export interface Undo {
  approval_id: string;
  undo_tool: string;
  calls: Call[];
  context?: unknown;
  by: By;
  at: string;
  data: string; // signature included
}

/** What a runtime may know of an approval. JSON is as it stands in Redis, "" where there is none. */
export interface Row {
  approval_id: string;
  state: string;
  ref: string; // what an owner may answer by text
  stream: string;
  terms: string;
  pin: string;
  opened_at: number; // Unix milliseconds
  expires_at: number;
  request: string;
  answer: string;
  report: string;
  undo: string;
}

/** The fate of one item line, counted from 1. */
export interface Result {
  line: number;
  ok: boolean;
  detail?: string;
}

/** What happened to an approved call. */
export interface Report {
  outcome: "executed" | "failed" | "partial" | "undone";
  results?: Result[];
  message?: string;
  undo_until?: string; // RFC 3339
}

/** Reads the data of approval.answered; throws Invalid. */
export function readAnswer(data: string): Answer {
  const o = plain(withoutNull(checkAnswer(toBytes(data)))) as Omit<Answer, "data">;
  return { ...o, observation: o.observation ?? "", data };
}

/** Null counts as absent, except for what is the runtime's own. */
function withoutNull(o: Members): Node {
  return new Map([...o].filter(([key, value]) => value !== null || key === "context"));
}

export function readUndo(data: string): Undo {
  return { ...(JSON.parse(data) as Omit<Undo, "data">), data };
}
