import { counters } from '../media/counters.ts';
import { PathBudget } from '../media/path-budget.ts';
import type { PacketTap, Publication } from '../media/publication.ts';
import type { SenderReport } from '../media/rtcp.ts';
import type { RtpView } from '../media/rtp.ts';
import { isForLayer, type SvcPlace } from '../media/svc/svc-place.ts';
import type { Pipe, PipedLayer } from './pipe.ts';

/** Demand is repeated every second: without it for this long nobody is there any more. */
const DEMAND_MS_MAX = 5000;
/** Beside the bits of layers: somebody there needs the backup codec. */
export const BACKUP_BIT = 0x80;

/** What the subscribers of another process get of a track, once for all of them: the layers that they want. */
export class Tap implements PacketTap {
  readonly publication: Publication;
  readonly #track: number;
  readonly #pipe: Pipe;
  #layers = 0;
  wantsBackup = false;
  #demandedAt = 0;
  /** Of each layer: the stream that feeds it, and how often it began on this pipe, under this tap and those before. */
  readonly #ssrcs: number[] = [];
  readonly #runs: number[];
  readonly #resendBudget = new PathBudget();

  constructor(publication: Publication, track: number, pipe: Pipe, runs: number[]) {
    this.publication = publication;
    this.#track = track;
    this.#pipe = pipe;
    this.#runs = runs;
    publication.addTap(this);
  }

  wants(layer: number): boolean {
    return (this.#layers & (1 << layer)) !== 0;
  }

  /** A layer that is wanted anew begins a new run: what lies between was not lost, and is not to be requested. */
  demand(wanted: number, now: number): void {
    const layers = wanted & ~BACKUP_BIT;
    this.wantsBackup = layers !== wanted;
    const added = layers & ~this.#layers;
    this.#layers = layers;
    this.#demandedAt = now;
    if (added === 0) return;
    this.publication.layers.forEach((_, layer) => {
      if ((added & (1 << layer)) === 0) return;
      this.#ssrcs[layer] = -1;
      this.publication.requestKeyFrame(layer);
    });
    this.publication.flushKeyFrameRequests(now);
  }

  isExpired(now: number): boolean {
    return (this.#layers === 0 && !this.wantsBackup) || now - this.#demandedAt > DEMAND_MS_MAX;
  }

  forward(view: RtpView, layer: number, place?: SvcPlace): void {
    if (view.ssrc !== this.#ssrcs[layer]) {
      this.#ssrcs[layer] = view.ssrc;
      this.#runs[layer] = ((this.#runs[layer] ?? 0) + 1) & 0xff;
    }
    this.#pipe.sendRtp(this.#at(layer), this.#isWhole(place) ? view.buffer : withoutContent(view));
  }

  /** To another node the spatial layers above those that are wanted there go without content: their numbers are no loss. */
  #isWhole(place: SvcPlace | undefined): boolean {
    if (!place?.frame || !this.#pipe.isBetweenNodes) return true;
    return isForLayer(place, 31 - Math.clz32(this.#layers));
  }

  senderReport(report: SenderReport, layer: number): void {
    this.#pipe.sendSenderReport(this.#at(layer), report);
  }

  /** As far as the budget goes: a pipe that loses because it is full is not to be filled with repeats. */
  resend({ layer, run }: PipedLayer, sequences: readonly number[], now: number): void {
    if (run !== this.#runs[layer] || !this.wants(layer)) return;
    this.#resendBudget.estimate(this.#bitsPerSecond(now));
    const cache = this.publication.cacheOf(layer);
    for (const sequence of sequences) {
      const packet = cache?.get(sequence);
      if (!packet) continue;
      if (!this.#resendBudget.take(packet.length, now)) return;
      counters.pipeResent += 1;
      this.#pipe.sendRtp(this.#at(layer), packet);
    }
  }

  /** Of what goes there: simulcast layers together, or one stream, whose top layer counts those below. */
  #bitsPerSecond(now: number): number {
    const { publication } = this;
    const rates = publication.layers.map((_, layer) => (this.wants(layer) ? publication.bitrateOf(layer, now) : 0));
    return publication.isSimulcast ? rates.reduce((sum, rate) => sum + rate, 0) : Math.max(0, ...rates);
  }

  #at = (layer: number): PipedLayer => ({ track: this.#track, layer, run: this.#runs[layer] ?? 0 });

  close(): void {
    this.publication.removeTap(this);
  }
}

const PADDING_BIT = 0x20;

/** What says which packet it is, and of which layer. */
function withoutContent({ buffer, payloadStart }: RtpView): Buffer {
  const head = Buffer.from(buffer.subarray(0, payloadStart));
  head[0] = (head[0] ?? 0) & ~PADDING_BIT;
  return head;
}
