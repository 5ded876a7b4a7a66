/** Streams with several layers for tests, described bit by bit so that the reader under test does not check itself. */
import { rtpPacket } from './packets.ts';

/** `full`: each layer builds on the one below in every picture. `key`: only in key frames. */
export type Mode = 'full' | 'key';

export interface Shape {
  mode: Mode;
  spatial: number;
  temporal: number;
  hasSizes?: boolean;
}

interface Layered {
  spatial: number;
  temporal: number;
  isKey: boolean;
}

const NOT_PRESENT = 0;
const DISCARDABLE = 1;
const SWITCH = 2;
const REQUIRED = 3;

const bitsOf = (value: number, width: number): string => value.toString(2).padStart(width, '0').slice(-width);

/** A number below `limit` in as few bits as that takes. */
function below(limit: number, value: number): string {
  const width = Math.floor(Math.log2(limit)) + 1;
  const short = 2 ** width - limit;
  return value < short ? bitsOf(value, width - 1) : bitsOf(value + short, width);
}

export const toBytes = (bits: string): number[] =>
  (bits.match(/.{1,8}/g) ?? []).map((byte) => Number.parseInt(byte.padEnd(8, '0'), 2));

function indication(mode: Mode, frame: Layered, spatial: number, temporal: number): number {
  if (spatial < frame.spatial || temporal < frame.temporal) return NOT_PRESENT;
  if (spatial === frame.spatial) return temporal === frame.temporal && temporal > 0 ? DISCARDABLE : SWITCH;
  if (frame.isKey) return SWITCH;
  return mode === 'key' ? NOT_PRESENT : REQUIRED;
}

/** Templates in the order that the format wants: by spatial layer, then by temporal layer; a key frame's is first. */
const templatesOf = ({ spatial, temporal }: Shape): Layered[] =>
  Array.from({ length: spatial }, (_, s) =>
    Array.from({ length: temporal }, (_, t) => ({ spatial: s, temporal: t, isKey: false })).flatMap((delta) =>
      delta.temporal === 0 ? [{ ...delta, isKey: true }, delta] : [delta],
    ),
  ).flat();

export const targetsOf = ({ spatial, temporal }: Shape): { spatial: number; temporal: number }[] =>
  Array.from({ length: spatial * temporal }, (_, at) => ({
    spatial: Math.floor(at / temporal),
    temporal: at % temporal,
  }));

function structureBits(shape: Shape, idOffset: number): string {
  const templates = templatesOf(shape);
  const targets = targetsOf(shape);
  const steps = templates.map(({ spatial, temporal }, at) => {
    const next = templates[at + 1];
    if (!next) return '11';
    return next.spatial > spatial ? '10' : next.temporal > temporal ? '01' : '00';
  });
  const dtis = templates.flatMap((frame) =>
    targets.map(({ spatial, temporal }) => bitsOf(indication(shape.mode, frame, spatial, temporal), 2)),
  );
  const chains = [
    below(targets.length + 1, shape.spatial),
    ...targets.map(({ spatial }) => below(shape.spatial, spatial)),
    ...templates.map(() => '0000'.repeat(shape.spatial)),
  ];
  const sizes = Array.from({ length: shape.spatial }, (_, s) => {
    const scale = 2 ** (shape.spatial - 1 - s);
    return bitsOf(1280 / scale - 1, 16) + bitsOf(720 / scale - 1, 16);
  });
  return [
    bitsOf(idOffset, 6),
    bitsOf(targets.length - 1, 5),
    ...steps,
    ...dtis,
    '0'.repeat(templates.length),
    ...chains,
    shape.hasSizes ? `1${sizes.join('')}` : '0',
  ].join('');
}

interface DescriptorInit extends Layered {
  frameNumber: number;
  isStart: boolean;
  isEnd: boolean;
  fdiffs: number[];
  chains: number[];
  hasStructure?: boolean;
  active?: number;
  idOffset?: number;
}

export function descriptorOf(shape: Shape, init: DescriptorInit): number[] {
  const { spatial, temporal, isKey, frameNumber, isStart, isEnd, fdiffs, chains, hasStructure, active } = init;
  const { idOffset = 0 } = init;
  const index = templatesOf(shape).findIndex(
    (one) => one.spatial === spatial && one.temporal === temporal && one.isKey === isKey,
  );
  const flag = (value: boolean | undefined): string => (value ? '1' : '0');
  return toBytes(
    [
      flag(isStart),
      flag(isEnd),
      bitsOf((index + idOffset) % 64, 6),
      bitsOf(frameNumber, 16),
      flag(hasStructure),
      flag(active !== undefined),
      '011',
      hasStructure ? structureBits(shape, idOffset) : '',
      active === undefined ? '' : bitsOf(active, targetsOf(shape).length),
      ...fdiffs.map((fdiff) => `01${bitsOf(fdiff - 1, 4)}`),
      '00',
      ...chains.map((distance) => bitsOf(distance, 8)),
    ].join(''),
  );
}

export interface SvcFrame extends Layered {
  frameNumber: number;
  timestamp: number;
  fdiffs: number[];
  packets: Buffer[];
}

/** Pictures of a stream one after the other, two packets a frame. */
export class SvcSource {
  readonly shape: Shape;
  readonly descriptorId: number;
  #picture = 0;
  #sequence: number;
  #frameNumber: number;
  /** Last frame of the temporal base in each spatial layer, and of each chain. */
  readonly #base: number[] = [];
  readonly #chain: number[] = [];

  constructor(shape: Shape, { descriptorId = 12, sequence = 65_500, frameNumber = 65_500 } = {}) {
    this.shape = shape;
    this.descriptorId = descriptorId;
    this.#sequence = sequence;
    this.#frameNumber = frameNumber;
  }

  /** `layers`: how many spatial layers the encoder sends now. */
  picture({
    isKey = false,
    layers = this.shape.spatial,
    active,
  }: {
    isKey?: boolean;
    layers?: number;
    active?: number;
  } = {}): SvcFrame[] {
    const temporal = isKey ? 0 : this.#picture % this.shape.temporal;
    this.#picture = isKey ? 1 : this.#picture + 1;
    const timestamp = (this.#sequence * 3000 + this.#frameNumber) >>> 0;
    return Array.from({ length: layers }, (_, spatial) =>
      this.#frame({ spatial, temporal, isKey }, timestamp, spatial === layers - 1, active),
    );
  }

  #frame(layered: Layered, timestamp: number, isLast: boolean, active: number | undefined): SvcFrame {
    const { spatial, temporal, isKey } = layered;
    const { mode } = this.shape;
    const frameNumber = this.#frameNumber & 0xffff;
    const back = (number: number | undefined): number => (number === undefined ? 0 : this.#frameNumber - number);
    const fdiffs: number[] = [];
    if (!isKey) fdiffs.push(back(this.#base[spatial]));
    if (spatial > 0 && (isKey || mode === 'full')) fdiffs.push(1);
    const chains = Array.from({ length: this.shape.spatial }, (_, at) =>
      isKey && spatial === 0 ? 0 : back(this.#chain[at]),
    );
    for (let at = 0; at < this.shape.spatial; at += 1)
      if (temporal === 0 && (isKey || mode === 'full' ? spatial <= at : spatial === at))
        this.#chain[at] = this.#frameNumber;
    if (temporal === 0) this.#base[spatial] = this.#frameNumber;
    this.#frameNumber += 1;
    const described = { ...layered, frameNumber, fdiffs, chains };
    const packets = [true, false].map((isStart) => {
      const descriptor = descriptorOf(this.shape, {
        ...described,
        isStart,
        isEnd: !isStart,
        hasStructure: isKey && spatial === 0 && isStart,
        ...(active !== undefined && isStart && { active }),
      });
      return this.#packet(layered, timestamp, isStart, isLast, descriptor);
    });
    return { ...layered, frameNumber, timestamp, fdiffs, packets };
  }

  #packet(layered: Layered, timestamp: number, isStart: boolean, isLast: boolean, descriptor: number[]): Buffer {
    const packet = rtpPacket({
      sequence: this.#sequence & 0xffff,
      timestamp,
      marker: isLast && !isStart,
      payload: vp9Payload({ ...layered, isStart, isEnd: !isStart, layers: this.shape.spatial }),
      ...(this.descriptorId > 0 && { wideExtensions: [[this.descriptorId, descriptor]] }),
    });
    this.#sequence += 1;
    return packet;
  }
}

/** A VP9 payload descriptor in flexible mode without references, and a few bytes. */
export function vp9Payload(init: Layered & { isStart: boolean; isEnd: boolean; layers: number }): Buffer {
  const { spatial, temporal, isKey, isStart, isEnd, layers } = init;
  const hasStructure = isKey && isStart && spatial === 0;
  const isPredicted = !isKey;
  const flags =
    0x80 |
    (isPredicted ? 0x40 : 0) |
    0x20 |
    0x10 |
    (isStart ? 0x08 : 0) |
    (isEnd ? 0x04 : 0) |
    (hasStructure ? 0x02 : 0);
  const layer = (temporal << 5) | (temporal === 0 ? 0x10 : 0) | (spatial << 1) | (spatial > 0 ? 1 : 0);
  return Buffer.from([
    flags,
    0x05,
    layer,
    ...(isPredicted ? [0x02] : []),
    ...(hasStructure ? [(layers - 1) << 5] : []),
    ...[1, 2, 3, 4],
  ]);
}
