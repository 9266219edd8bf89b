/**
 * What LangChain's human-in-the-loop middleware asks, asked of an owner in Telegram.
 *
 * @packageDocumentation
 */
import { createHash } from "node:crypto";
import { hostname } from "node:os";
import { isDeepStrictEqual } from "node:util";
import { Command } from "@langchain/langgraph";
import { type Answer, type Client, CountersignError, type Pending, type Report, type Request, type WaitOptions } from "countersign";
import type { ActionRequest, HITLRequest, HITLResponse } from "langchain";

/** This cannot be asked as one yes or no. Nothing was sent. */
export class CannotAsk extends CountersignError {}

/** What is needed of a message. */
export interface Message {
  type?: string;
  tool_calls?: { name: string; args: Record<string, unknown>; id?: string }[];
  tool_call_id?: string;
  status?: string;
  content?: unknown;
}

/** What an agent's invoke returns. */
export interface Result {
  messages: Message[];
  __interrupt__?: { id?: string; value?: unknown }[];
}

/** What is needed of an agent. */
export interface Agent<I, C> {
  invoke(input: I | Command, config: C): Promise<unknown>;
}

export interface Options extends WaitOptions {
  /** The card's line of an action. Default: the tool and its arguments, cut at 1,000 characters, which the line then says. */
  describe?: (action: ActionRequest) => string;
  /** Who claims. Default: the host's name. */
  by?: string;
  /** Further fields of the request, such as runtime, run_id, effect, risk, expires_in or context. */
  request?: Partial<Omit<Request, "approval_id" | "tool" | "arguments" | "calls" | "kind">>;
  /** Is told what could not be reported. Default: nobody; the card then says that nothing was reported. */
  unreported?: (report: Report, pending: Pending, error: unknown) => void;
}

/** An interrupt that was answered. */
export interface Settled {
  /** What to resume the agent with. */
  resume: HITLResponse;
  answer: Answer;
  pending: Pending;
  /** The ids of the calls that were asked, in order. */
  callIds: string[];
}

/**
 * Asks for the calls at which an agent was interrupted, and claims them if they are approved.
 * The approval's id is made of the interrupt's, so that the same interrupt, asked again by
 * whatever process, is the same approval.
 *
 * What gets lost between the two:
 *
 * - **Single answers.** All calls of an interrupt are answered as one; LangChain's other way, one
 *   decision for each, does not exist. (Some versions ran the calls that were approved beside one
 *   that was rejected, and some none; as one, there is no such case.)
 * - **Edits.** There are none. An interrupt of which a call does not allow both approve and
 *   reject throws CannotAsk.
 * - **No answer.** LangChain knows no expiry. What lapsed, was withdrawn or was refused goes back
 *   as a rejection, whose message says that no owner answered.
 * - **Whose arguments run.** Decisions have no ids and count by position: the agent runs the calls
 *   of its own checkpoint. They are compared with what is asked, here, once; whoever can write
 *   the checkpoint afterwards can change them. A tool that must not rely on that checks its own
 *   pin, as requiresApproval does.
 * - **A second start.** An approval is claimed before the agent goes on. If the process dies in
 *   between, or later, asking again throws ClaimRefused (already_claimed), and the agent stays
 *   interrupted: what had run by then is for a person to find out.
 */
export async function settle(client: Client, result: Result, options: Options = {}): Promise<Settled> {
  const { id, actions, callIds } = interrupted(result);
  const { context, card, ...more } = options.request ?? {};
  const pending = await client.request({
    runtime: "langchain", ...more, approval_id: id,
    calls: actions.map(({ name, args }, i) => ({ tool: name, arguments: args, call_id: callIds[i] })),
    ...(context === undefined ? {} : { context }),
    card: {
      title: actions.length === 1 ? `Run ${actions[0]!.name}` : `Run ${actions.length} calls`,
      lines: actions.map(options.describe ?? line), ...card,
    },
  });
  const answer = await client.awaitAnswer(pending, options);
  if (answer.approved) {
    await client.claim(pending.approval_id, pending.pin, options.by ?? hostname(), pending.stream);
    return { resume: { decisions: actions.map(() => ({ type: "approve" })) }, answer, pending, callIds };
  }
  const message = answer.decision === "rejected" ? answer.observation : `no owner answered (${answer.decision}): ${answer.observation}`;
  return { resume: { decisions: actions.map(() => ({ type: "reject", message })) }, answer, pending, callIds };
}

/**
 * Invokes an agent, has its owner answer at every interrupt, and reports what became of the
 * approved calls: a tool message with the status error, or none, is a line that failed. What the
 * agent throws is reported as failed, and thrown. What cannot be reported takes neither the result
 * nor the agent's error away.
 */
export async function invokeWithApproval<I, C>(agent: Agent<I, C>, input: I, config: C, client: Client, options: Options = {}): Promise<Result> {
  let result = (await agent.invoke(input, config)) as Result;
  while (result.__interrupt__?.length) {
    const { resume, answer, pending, callIds } = await settle(client, result, options);
    try {
      result = (await agent.invoke(new Command({ resume }), config)) as Result;
    } catch (e) {
      if (answer.approved) await reported(client, pending, { outcome: "failed", message: cut(String(e), 2000) }, options);
      throw e;
    }
    if (answer.approved) await reported(client, pending, outcome(result, callIds), options);
  }
  return result;
}

async function reported(client: Client, pending: Pending, report: Report, { unreported }: Options): Promise<void> {
  try {
    await client.report(pending.approval_id, report);
  } catch (e) {
    unreported?.(report, pending, e);
  }
}

/** An action as a card's line. */
function line({ name, args }: ActionRequest): string {
  const text = `${name} ${JSON.stringify(args)}`;
  const most = 1000;
  if ([...text].length <= most) return text;
  const rest = "… (cut; the exact call is whole)";
  return cut(text, most - [...rest].length) + rest;
}

/** Reads an interrupt, and finds the calls that it hangs on. */
function interrupted(result: Result): { id: string; actions: ActionRequest[]; callIds: string[] } {
  const [interrupt, ...others] = result.__interrupt__ ?? [];
  if (!interrupt || others.length > 0) throw new CannotAsk(`${others.length + (interrupt ? 1 : 0)} interrupts at once, want one`);
  if (!interrupt.id) throw new CannotAsk("an interrupt without an id");
  const value = interrupt.value as Partial<HITLRequest> | undefined;
  const actions = value?.actionRequests ?? [];
  if (actions.length === 0) throw new CannotAsk("the interrupt is not the human-in-the-loop middleware's");
  for (const { actionName, allowedDecisions } of value?.reviewConfigs ?? []) {
    if (!allowedDecisions.includes("approve") || !allowedDecisions.includes("reject")) {
      throw new CannotAsk(`${actionName} allows ${allowedDecisions.join(" and ")}; approve and reject are needed`);
    }
  }
  const hanging = [...result.messages].reverse().find((m) => m.tool_calls?.length)?.tool_calls ?? [];
  const callIds: string[] = [];
  for (const call of hanging) {
    const action = actions[callIds.length];
    if (action && call.id && call.name === action.name && isDeepStrictEqual(call.args, action.args)) callIds.push(call.id);
  }
  if (callIds.length !== actions.length) throw new CannotAsk("the actions are not the calls that hang");
  const id = `langchain.${interrupt.id}`;
  const plain = /^[A-Za-z0-9._:-]{1,128}$/.test(id);
  return { id: plain ? id : `langchain.${createHash("sha256").update(interrupt.id).digest("hex")}`, actions, callIds };
}

/** What became of calls, by the tools' messages. */
function outcome(result: Result, callIds: string[]): Report {
  const results = callIds.map((id, i) => {
    const message = result.messages.find((m) => m.tool_call_id === id);
    const ok = message !== undefined && message.status !== "error";
    const detail = message === undefined ? "the tool gave no result" : typeof message.content === "string" ? cut(message.content, 1000) : undefined;
    return { line: i + 1, ok, ...(ok || detail === undefined ? {} : { detail }) };
  });
  const ran = results.filter((r) => r.ok).length;
  return { outcome: ran === results.length ? "executed" : ran > 0 ? "partial" : "failed", results };
}

function cut(text: string, most: number): string {
  return [...text.toWellFormed()].slice(0, most).join("");
}
