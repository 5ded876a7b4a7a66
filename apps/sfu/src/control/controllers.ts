import type { MediaEventName, MediaEvents } from '@parley/contract/media-control';

/** Events kept for a controller that may come back. */
const KEPT_EVENTS = 2000;

export type Send = (frame: string) => void;

/** One server process of the control plane: its connection, if it has one, and the events it may have missed. */
export class Controller {
  readonly id: string;
  #seq = 0;
  readonly #kept: { seq: number; frame: string }[] = [];
  #send: Send | undefined;
  /** Null while connected. */
  lostAt: number | null = null;

  constructor(id: string) {
    this.id = id;
  }

  get seq(): number {
    return this.#seq;
  }

  event<Name extends MediaEventName>(type: Name, data: MediaEvents[Name]): void {
    this.#seq += 1;
    const frame = JSON.stringify({ seq: this.#seq, type, data });
    this.#kept.push({ seq: this.#seq, frame });
    if (this.#kept.length > KEPT_EVENTS) this.#kept.shift();
    this.#send?.(frame);
  }

  /** True when nothing after `since` is lost. */
  canResume(since: number | undefined): boolean {
    if (since === undefined || since > this.#seq) return false;
    return since === this.#seq || (this.#kept[0]?.seq ?? Number.POSITIVE_INFINITY) <= since + 1;
  }

  /** Sends what was missed, and from now on what comes. */
  connect(send: Send, since: number | undefined): void {
    this.#send = send;
    this.lostAt = null;
    if (since === undefined || !this.canResume(since)) return;
    for (const { seq, frame } of this.#kept) if (seq > since) send(frame);
  }

  disconnect(send: Send, now: number): void {
    // A newer connection of the same controller has taken over.
    if (this.#send !== send) return;
    this.#send = undefined;
    this.lostAt = now;
  }
}
