import { randomUUID } from "node:crypto";
import { link, mkdir, open, readFile, unlink } from "node:fs/promises";
import { join } from "node:path";

/** For each approval there are at most five notes. */
export type Step = "asked" | "started" | "unsure" | "done" | "reported";

/**
 * What a runtime remembers of its own side effects, so that it does not repeat them: notes that
 * are written once and kept. It belongs to the runtime and must outlive its process.
 */
export interface Ledger {
  /** Returns a note, undefined if there is none. */
  read(approvalId: string, step: Step): Promise<string | undefined>;
  /**
   * Writes a note, durably. Of any number of writers one gets true; where the note is there
   * already, it is left as it is, and the answer is false.
   */
  add(approvalId: string, step: Step, note: string): Promise<boolean>;
}

/**
 * A ledger in a folder, one small file for each note. Several processes on one machine may share
 * it. Whoever may write the folder can make a call that ran look like one that did not: keep it
 * to the runtime.
 */
export class FileLedger implements Ledger {
  constructor(private readonly folder: string) {}

  async read(approvalId: string, step: Step): Promise<string | undefined> {
    let text: string;
    try {
      text = await readFile(this.path(approvalId, step), "utf8");
    } catch (e) {
      if ((e as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw e;
    }
    const kept = JSON.parse(text) as { approval_id: string; note: string };
    if (kept.approval_id !== approvalId) throw new Error(`ledger: ${this.path(approvalId, step)} is of ${kept.approval_id}`);
    return kept.note;
  }

  async add(approvalId: string, step: Step, note: string): Promise<boolean> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    const temporary = join(this.folder, `.new-${randomUUID()}`);
    const file = await open(temporary, "wx", 0o600);
    try {
      await file.writeFile(JSON.stringify({ approval_id: approvalId, note }));
      await file.sync();
      await file.close();
      await link(temporary, this.path(approvalId, step)); // whole, and never over another
    } catch (e) {
      if ((e as NodeJS.ErrnoException).code === "EEXIST") return false;
      throw e;
    } finally {
      await unlink(temporary);
    }
    if (process.platform !== "win32") {
      const folder = await open(this.folder);
      await folder.sync().finally(() => folder.close());
    }
    return true;
  }

  private path(approvalId: string, step: Step): string {
    return join(this.folder, `${approvalId.replaceAll(":", "%3A")}.${step}.json`);
  }
}
