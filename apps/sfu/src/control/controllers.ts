import type { MediaEvent } from '@parley/contract/media-control';

/** Events replayed to a controller that reconnects. */
const REPLAY_EVENTS = 2000;

export type Send = (frame: string) => void;

/** One server process of the control plane: its connection, if it has one, and the events it may have missed. */
export class Controller {
  readonly id: string;
  #seq = 0;
  readonly #replay: { seq: number; frame: string }[] = [];
  #send: Send | undefined;
  /** Null while connected. */
  lostAt: number | null = null;

  constructor(id: string) {
    this.id = id;
  }

  get seq(): number {
    return this.#seq;
  }

  emit(event: MediaEvent): void {
    this.#seq += 1;
    const frame = JSON.stringify({ seq: this.#seq, ...event });
    this.#replay.push({ seq: this.#seq, frame });
    if (this.#replay.length > REPLAY_EVENTS) this.#replay.shift();
    this.#send?.(frame);
  }

  /** True when nothing after `since` is lost. */
  canResume(since: number | undefined): boolean {
    if (since === undefined || since > this.#seq) return false;
    return since === this.#seq || (this.#replay[0]?.seq ?? Number.POSITIVE_INFINITY) <= since + 1;
  }

  /** Sends what was missed, and from now on what comes. */
  connect(send: Send, since: number | undefined): void {
    this.#send = send;
    this.lostAt = null;
    if (since === undefined || !this.canResume(since)) return;
    for (const { seq, frame } of this.#replay) if (seq > since) send(frame);
  }

  disconnect(send: Send, now: number): void {
    // A newer connection of the same controller has taken over.
    if (this.#send !== send) return;
    this.#send = undefined;
    this.lostAt = now;
  }
}
