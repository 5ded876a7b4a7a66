import type { MediaClock } from '../media/clock.ts';
import { readRtcp, type SenderReport, writeSenderReport } from '../media/rtcp.ts';
import { MessageStream } from './message-stream.ts';
import { PipeCongestion } from './pipe-congestion.ts';
import type { PipeSettings } from './pipe-settings.ts';
import type { PipeSocket } from './pipe-socket.ts';
import { type DatagramSeal, SEALED_BYTES, Seal } from './seal.ts';
import { Stamp } from './stamp.ts';

export type { PipeSettings };

/** A layer of a track as the process that publishes it numbers it. `run` counts its beginnings on this pipe. */
export interface PipedLayer {
  track: number;
  layer: number;
  run: number;
}

export interface PipeListener {
  rtp(of: PipedLayer, packet: Buffer, now: number): void;
  senderReport(of: PipedLayer, report: SenderReport, now: number): void;
  /** A bit for each layer that somebody there wants. */
  demand(track: number, layers: number, now: number): void;
  keyFrame(track: number, layer: number, now: number): void;
  nack(of: PipedLayer, sequences: readonly number[], now: number): void;
  message(bytes: Buffer): void;
}

export interface PipeStats {
  sentDatagrams: number;
  /** Of those that the other end sent. */
  receivedDatagrams: number;
  lostDatagrams: number;
  /** Not of the other end, or seen before. */
  refusedDatagrams: number;
}

const RTP = 1;
const SENDER_REPORT = 2;
const DEMAND = 3;
const KEY_FRAME = 4;
const NACK = 5;
const CHUNK = 6;
const ACK = 7;
const PING = 8;
const PONG = 9;

/** Type and length. */
const RECORD_BYTES = 3;
/** Track, layer and run. */
const LAYER_BYTES = 6;
const RECORD_BYTES_MAX = 0xffff;
const NACKS_MAX = 300;
const PING_MS = 1000;
/** To other nodes: their end is noticed by silence. */
const NODE_PING_MS = 400;
/** Both ends of a new pipe open it at about the same time: the first to hear the other is not to wait. */
const FIRST_PING_MS = 50;
const FIRST_PINGS = 40;
/** Media that follows a datagram this soon waits as long for more: a datagram costs more than its bytes. */
const GATHER_MS = 3;

/**
 * One pipe to another media process: records of media and feedback, several in a datagram, and messages that arrive.
 * What one turn of the event loop writes goes out at its end, media that comes close together with what follows.
 */
export class Pipe {
  readonly #settings: PipeSettings;
  readonly #socket: PipeSocket;
  readonly #clock: MediaClock;
  readonly #listener: PipeListener;
  readonly #seal: DatagramSeal;
  readonly #messages: MessageStream;
  readonly #payloadMax: number;
  #buffer: Buffer;
  #length = 0;
  #isFlushScheduled = false;
  #isFlushSoon = false;
  #flushedAt = Number.NEGATIVE_INFINITY;
  #isClosed = false;
  /** Until the other end was heard, an address of another node gets pings and nothing else. */
  #isProven: boolean;
  #pingedAt = Number.NEGATIVE_INFINITY;
  #pings = 0;
  heardAt: number;
  #received = 0;
  #refused = 0;
  /** As the last ping found it. */
  rttMs: number | null = null;
  /** Between processes of one machine only the processor can be short. */
  readonly #congestion: PipeCongestion | undefined;

  constructor(settings: PipeSettings, socket: PipeSocket, clock: MediaClock, listener: PipeListener) {
    this.#settings = settings;
    this.#socket = socket;
    this.#clock = clock;
    this.#listener = listener;
    const { secret, end, betweenNodes } = settings;
    const others = betweenNodes?.otherSecrets.map((other) => Buffer.from(other, 'hex'));
    const own = Buffer.from(secret, 'hex');
    this.#seal = others ? new Seal(own, end, others) : new Stamp(own, end);
    this.#isProven = betweenNodes === undefined;
    if (betweenNodes) this.#congestion = new PipeCongestion();
    this.#payloadMax = settings.datagramBytes - SEALED_BYTES;
    this.#buffer = Buffer.alloc(this.#payloadMax);
    this.heardAt = clock.now();
    this.#messages = new MessageStream({
      sendChunk: (number, bytes) => this.#writeChunk(number, bytes),
      sendAck: (next) => this.#writeNumber(ACK, next),
      message: (bytes) => listener.message(bytes),
    });
    socket.attach(settings.id, this.#receive);
  }

  get stats(): PipeStats {
    return {
      sentDatagrams: this.#seal.sent,
      receivedDatagrams: this.#received,
      lostDatagrams: this.#seal.lost,
      refusedDatagrams: this.#refused,
    };
  }

  sendRtp(of: PipedLayer, packet: Buffer): void {
    const at = this.#record(RTP, LAYER_BYTES + packet.length);
    if (at < 0) return;
    packet.copy(this.#buffer, this.#writeLayer(at, of));
  }

  sendSenderReport(of: PipedLayer, report: SenderReport): void {
    const bytes = writeSenderReport(report, 0, 0);
    const at = this.#record(SENDER_REPORT, LAYER_BYTES + bytes.length);
    if (at >= 0) bytes.copy(this.#buffer, this.#writeLayer(at, of));
  }

  sendDemand(track: number, layers: number): void {
    const at = this.#record(DEMAND, LAYER_BYTES);
    if (at >= 0) this.#writeLayer(at, { track, layer: layers, run: 0 });
  }

  sendKeyFrameRequest(track: number, layer: number): void {
    const at = this.#record(KEY_FRAME, LAYER_BYTES);
    if (at >= 0) this.#writeLayer(at, { track, layer, run: 0 });
  }

  sendNack(of: PipedLayer, sequences: readonly number[]): void {
    const wanted = sequences.slice(0, NACKS_MAX);
    const at = this.#record(NACK, LAYER_BYTES + wanted.length * 2);
    if (at < 0) return;
    const start = this.#writeLayer(at, of);
    wanted.forEach((sequence, index) => {
      this.#buffer.writeUInt16BE(sequence, start + index * 2);
    });
  }

  /** In order and without loss, as long as the pipe is open; false when too much waits already. */
  sendMessage(bytes: Buffer, isData = false): boolean {
    return !this.#isClosed && this.#messages.push(bytes, isData, this.#clock.now());
  }

  /** How many of the top layers of a track the path to us does not carry. */
  get layersCut(): number {
    return this.#congestion?.layersCut ?? 0;
  }

  get isBetweenNodes(): boolean {
    return this.#settings.betweenNodes !== undefined;
  }

  get isCongested(): boolean {
    return this.#messages.isCongested;
  }

  #writeChunk(number: number, bytes: Buffer): void {
    const at = this.#record(CHUNK, 4 + bytes.length);
    if (at < 0) return;
    this.#buffer.writeUInt32BE(number, at);
    bytes.copy(this.#buffer, at + 4);
  }

  #writeNumber(type: number, number: number): void {
    const at = this.#record(type, 4);
    if (at >= 0) this.#buffer.writeUInt32BE(number >>> 0, at);
  }

  #writeLayer(at: number, { track, layer, run }: PipedLayer): number {
    const buffer = this.#buffer;
    buffer.writeUInt32BE(track, at);
    buffer[at + 4] = layer;
    buffer[at + 5] = run;
    return at + LAYER_BYTES;
  }

  /** Where the body of a new record goes, or -1. */
  #record(type: number, bytes: number): number {
    const whole = RECORD_BYTES + bytes;
    if (this.#isClosed || bytes > RECORD_BYTES_MAX || (!this.#isProven && type !== PING)) return -1;
    if (this.#length + whole > this.#payloadMax) this.flush();
    // A record that no datagram of this size holds goes alone: the path may still carry it.
    if (whole > this.#buffer.length) this.#buffer = Buffer.alloc(whole);
    if ((type === RTP || type === SENDER_REPORT) && this.#clock.now() - this.#flushedAt < GATHER_MS) this.#flushSoon();
    else this.#flushThisTurn();
    const at = this.#length;
    this.#buffer[at] = type;
    this.#buffer.writeUInt16BE(bytes, at + 1);
    this.#length += whole;
    return at + RECORD_BYTES;
  }

  #flushSoon(): void {
    if (this.#isFlushSoon) return;
    this.#isFlushSoon = true;
    setTimeout(this.#flushTimed, GATHER_MS);
  }

  readonly #flushTimed = (): void => {
    this.#isFlushSoon = false;
    this.flush();
  };

  #flushThisTurn(): void {
    if (this.#isFlushScheduled) return;
    this.#isFlushScheduled = true;
    setImmediate(this.#flushScheduled);
  }

  readonly #flushScheduled = (): void => {
    this.#isFlushScheduled = false;
    this.flush();
  };

  /** Sends what was written. */
  flush(): void {
    if (this.#length === 0 || this.#isClosed) return;
    this.#flushedAt = this.#clock.now();
    const { peerId, port, host } = this.#settings;
    const parts = this.#seal.seal(peerId, this.#buffer.subarray(0, this.#length));
    this.#length = 0;
    this.#socket.send(parts, port, host);
  }

  /** False for what is not of the other end. */
  readonly #receive = (datagram: Buffer): boolean => {
    const plain = this.#seal.open(datagram);
    if (!plain) {
      this.#refused += 1;
      return false;
    }
    const now = this.#clock.now();
    this.heardAt = now;
    if (!this.#isProven) this.#messages.repeat();
    this.#isProven = true;
    this.#received += 1;
    let at = 0;
    while (at + RECORD_BYTES <= plain.length) {
      const start = at + RECORD_BYTES;
      const end = start + plain.readUInt16BE(at + 1);
      if (end > plain.length) break;
      this.#onRecord(plain[at] ?? 0, plain.subarray(start, end), now);
      at = end;
    }
    this.#messages.flushAck();
    return true;
  };

  #onRecord(type: number, body: Buffer, now: number): void {
    if (type >= CHUNK) this.#onControl(type, body, now);
    else if (body.length >= LAYER_BYTES) this.#onMedia(type, body, now);
  }

  #onMedia(type: number, body: Buffer, now: number): void {
    const of = { track: body.readUInt32BE(0), layer: body[4] ?? 0, run: body[5] ?? 0 };
    const rest = body.subarray(LAYER_BYTES);
    if (type === RTP) this.#listener.rtp(of, rest, now);
    else if (type === SENDER_REPORT)
      readRtcp(rest, { senderReport: (report) => this.#listener.senderReport(of, report, now) });
    else if (type === DEMAND) this.#listener.demand(of.track, of.layer, now);
    else if (type === KEY_FRAME) this.#listener.keyFrame(of.track, of.layer, now);
    else if (type === NACK) this.#listener.nack(of, readSequences(rest), now);
  }

  #onControl(type: number, body: Buffer, now: number): void {
    if (body.length < 4) return;
    const number = body.readUInt32BE(0);
    if (type === CHUNK) this.#messages.onChunk(number, body.subarray(4));
    else if (type === ACK) this.#messages.onAck(number, now);
    else if (type === PING) this.#writeNumber(PONG, number);
    else if (type === PONG) this.rttMs = (Math.floor(now) - number) >>> 0;
  }

  /** Every 20 ms. */
  tick(now: number): void {
    this.#messages.tick(now);
    this.#congestion?.measure({ ...this.stats, rttMs: this.rttMs }, now);
    if (now - this.#pingedAt < this.#pingMs()) return;
    this.#pingedAt = now;
    this.#pings += 1;
    this.#writeNumber(PING, Math.floor(now));
  }

  #pingMs(): number {
    if (!this.#isProven && this.#pings < FIRST_PINGS) return FIRST_PING_MS;
    return this.#settings.betweenNodes ? NODE_PING_MS : PING_MS;
  }

  close(): void {
    this.#isClosed = true;
    this.#socket.detach(this.#settings.id, this.#receive);
  }
}

const readSequences = (bytes: Buffer): number[] =>
  Array.from({ length: bytes.length >> 1 }, (_, index) => bytes.readUInt16BE(index * 2));
