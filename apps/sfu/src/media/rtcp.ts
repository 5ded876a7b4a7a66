import { readTransportFeedback, type TransportFeedback } from './transport-feedback.ts';

/** Callbacks for the packets of an RTCP compound, in their order. A malformed part ends the reading and never throws. */
interface RtcpListener {
  senderReport?(report: SenderReport): void;
  receptionReport?(report: ReceptionReport): void;
  nack?(ssrc: number, sequences: number[]): void;
  /** PLI or FIR. */
  keyFrameRequest?(ssrc: number): void;
  remb?(bitsPerSecond: number, ssrcs: number[]): void;
  transportFeedback?(feedback: TransportFeedback): void;
  bye?(ssrc: number): void;
}

export interface SenderReport {
  ssrc: number;
  /** NTP as the two words of the report. */
  ntpSeconds: number;
  ntpFraction: number;
  rtpTimestamp: number;
}

export interface ReceptionReport {
  ssrc: number;
  /** 0-255. */
  fractionLost: number;
  packetsLost: number;
  highestSequence: number;
  jitter: number;
  lastSenderReport: number;
  delaySinceLastSenderReport: number;
}

const SENDER_REPORT = 200;
const RECEIVER_REPORT = 201;
const BYE = 203;
const TRANSPORT_FEEDBACK = 205;
const PAYLOAD_FEEDBACK = 206;
const REMB_NAME = 0x52454d42;
const BLOCK_BYTES = 24;
/** More in one packet can only be an attack. */
const NACKS_MAX = 512;

export function readRtcp(buffer: Buffer, listener: RtcpListener): void {
  let offset = 0;
  while (offset + 4 <= buffer.length) {
    const first = buffer[offset] ?? 0;
    const end = offset + 4 + buffer.readUInt16BE(offset + 2) * 4;
    if (first >> 6 !== 2 || end > buffer.length) return;
    readPacket(buffer, offset, end, first & 0x1f, buffer[offset + 1] ?? 0, listener);
    offset = end;
  }
}

function readPacket(b: Buffer, start: number, end: number, count: number, type: number, listener: RtcpListener): void {
  if (type === SENDER_REPORT && end - start >= 28) {
    listener.senderReport?.({
      ssrc: b.readUInt32BE(start + 4),
      ntpSeconds: b.readUInt32BE(start + 8),
      ntpFraction: b.readUInt32BE(start + 12),
      rtpTimestamp: b.readUInt32BE(start + 16),
    });
    readBlocks(b, start + 28, end, count, listener);
  } else if (type === RECEIVER_REPORT && end - start >= 8) readBlocks(b, start + 8, end, count, listener);
  else if (type === BYE && count > 0 && end - start >= 8) listener.bye?.(b.readUInt32BE(start + 4));
  else if (type === TRANSPORT_FEEDBACK && count === 1 && end - start >= 12) readNack(b, start, end, listener);
  else if (type === TRANSPORT_FEEDBACK && count === 15 && listener.transportFeedback) {
    const feedback = readTransportFeedback(b, start, end);
    if (feedback) listener.transportFeedback(feedback);
  } else if (type === PAYLOAD_FEEDBACK && end - start >= 12) readPayloadFeedback(b, start, end, count, listener);
}

function readBlocks(b: Buffer, start: number, end: number, count: number, listener: RtcpListener): void {
  if (!listener.receptionReport) return;
  for (let at = start, left = count; left > 0 && at + BLOCK_BYTES <= end; at += BLOCK_BYTES, left -= 1) {
    listener.receptionReport({
      ssrc: b.readUInt32BE(at),
      fractionLost: b[at + 4] ?? 0,
      packetsLost: b.readIntBE(at + 5, 3),
      highestSequence: b.readUInt32BE(at + 8),
      jitter: b.readUInt32BE(at + 12),
      lastSenderReport: b.readUInt32BE(at + 16),
      delaySinceLastSenderReport: b.readUInt32BE(at + 20),
    });
  }
}

function readNack(b: Buffer, start: number, end: number, listener: RtcpListener): void {
  const sequences: number[] = [];
  for (let at = start + 12; at + 4 <= end && sequences.length < NACKS_MAX; at += 4) {
    const first = b.readUInt16BE(at);
    sequences.push(first);
    for (let mask = b.readUInt16BE(at + 2), bit = 1; mask !== 0; mask >>= 1, bit += 1)
      if ((mask & 1) === 1) sequences.push((first + bit) & 0xffff);
  }
  listener.nack?.(b.readUInt32BE(start + 8), sequences);
}

function readPayloadFeedback(b: Buffer, start: number, end: number, format: number, listener: RtcpListener): void {
  if (format === 1) listener.keyFrameRequest?.(b.readUInt32BE(start + 8));
  else if (format === 4)
    for (let at = start + 12; at + 8 <= end; at += 8) listener.keyFrameRequest?.(b.readUInt32BE(at));
  else if (format === 15 && end - start >= 20 && b.readUInt32BE(start + 12) === REMB_NAME) {
    const count = b[start + 16] ?? 0;
    const exponent = (b[start + 17] ?? 0) >> 2;
    const mantissa = (((b[start + 17] ?? 0) & 3) << 16) | b.readUInt16BE(start + 18);
    const ssrcs: number[] = [];
    for (let at = start + 20; at + 4 <= end && ssrcs.length < count; at += 4) ssrcs.push(b.readUInt32BE(at));
    listener.remb?.(mantissa * 2 ** exponent, ssrcs);
  }
}

function head(type: number, count: number, bytes: number): Buffer {
  const packet = Buffer.alloc(bytes);
  packet[0] = 0x80 | count;
  packet[1] = type;
  packet.writeUInt16BE(bytes / 4 - 1, 2);
  return packet;
}

export function writeNack(senderSsrc: number, ssrc: number, sequences: readonly number[]): Buffer {
  const pairs: { first: number; mask: number }[] = [];
  for (const sequence of sequences) {
    const pair = pairs.at(-1);
    const distance = pair ? (sequence - pair.first) & 0xffff : 0;
    if (pair && distance >= 1 && distance <= 16) pair.mask |= 1 << (distance - 1);
    else pairs.push({ first: sequence, mask: 0 });
  }
  const packet = head(TRANSPORT_FEEDBACK, 1, 12 + pairs.length * 4);
  packet.writeUInt32BE(senderSsrc, 4);
  packet.writeUInt32BE(ssrc, 8);
  pairs.forEach(({ first, mask }, index) => {
    packet.writeUInt16BE(first, 12 + index * 4);
    packet.writeUInt16BE(mask, 14 + index * 4);
  });
  return packet;
}

export function writePli(senderSsrc: number, ssrc: number): Buffer {
  const packet = head(PAYLOAD_FEEDBACK, 1, 12);
  packet.writeUInt32BE(senderSsrc, 4);
  packet.writeUInt32BE(ssrc, 8);
  return packet;
}

export function writeRemb(senderSsrc: number, bitsPerSecond: number, ssrcs: readonly number[]): Buffer {
  const packet = head(PAYLOAD_FEEDBACK, 15, 20 + ssrcs.length * 4);
  packet.writeUInt32BE(senderSsrc, 4);
  packet.writeUInt32BE(REMB_NAME, 12);
  let exponent = 0;
  let mantissa = Math.floor(bitsPerSecond);
  while (mantissa > 0x3ffff) {
    mantissa = Math.floor(mantissa / 2);
    exponent += 1;
  }
  packet[16] = ssrcs.length;
  packet[17] = (exponent << 2) | (mantissa >> 16);
  packet.writeUInt16BE(mantissa & 0xffff, 18);
  ssrcs.forEach((ssrc, index) => {
    packet.writeUInt32BE(ssrc, 20 + index * 4);
  });
  return packet;
}

export function writeReceiverReport(senderSsrc: number, reports: readonly ReceptionReport[]): Buffer {
  const blocks = reports.slice(0, 31);
  const packet = head(RECEIVER_REPORT, blocks.length, 8 + blocks.length * BLOCK_BYTES);
  packet.writeUInt32BE(senderSsrc, 4);
  blocks.forEach((report, index) => {
    const at = 8 + index * BLOCK_BYTES;
    packet.writeUInt32BE(report.ssrc, at);
    packet[at + 4] = report.fractionLost;
    packet.writeIntBE(Math.max(-0x800000, Math.min(0x7fffff, report.packetsLost)), at + 5, 3);
    packet.writeUInt32BE(report.highestSequence, at + 8);
    packet.writeUInt32BE(report.jitter, at + 12);
    packet.writeUInt32BE(report.lastSenderReport, at + 16);
    packet.writeUInt32BE(report.delaySinceLastSenderReport, at + 20);
  });
  return packet;
}

export function writeSenderReport(report: SenderReport, packets: number, octets: number): Buffer {
  const packet = head(SENDER_REPORT, 0, 28);
  packet.writeUInt32BE(report.ssrc, 4);
  packet.writeUInt32BE(report.ntpSeconds, 8);
  packet.writeUInt32BE(report.ntpFraction, 12);
  packet.writeUInt32BE(report.rtpTimestamp, 16);
  packet.writeUInt32BE(packets >>> 0, 20);
  packet.writeUInt32BE(octets >>> 0, 24);
  return packet;
}

/** The middle 32 bits of an NTP time: how reception reports name a sender report. */
export const middleNtp = (report: Pick<SenderReport, 'ntpSeconds' | 'ntpFraction'>): number =>
  (((report.ntpSeconds & 0xffff) << 16) | (report.ntpFraction >>> 16)) >>> 0;

export const ntpSeconds = (report: Pick<SenderReport, 'ntpSeconds' | 'ntpFraction'>): number =>
  report.ntpSeconds + report.ntpFraction / 2 ** 32;
