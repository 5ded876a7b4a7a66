import { setImmediate as turn } from 'node:timers/promises';
import { newRtpView, readRtp } from '../src/media/rtp.ts';
import { Legs } from '../src/pipes/legs.ts';
import type { PipeSettings } from '../src/pipes/pipe.ts';
import { memoryNetwork } from './memory-network.ts';
import { rtpPacket } from './packets.ts';
import { local, stageRoom } from './room-stage.ts';

const PACKET_MS = 20;
/** Processes share no clock, and do not look at the same moment. */
const CLOCKS_APART_MS = 12_340;
const LEVEL_EXTENSION = 1;

interface Process {
  legs: Legs;
  /** While it is down, nobody hears the process. */
  path: { isUp: boolean };
  /** Each has a clock of its own. */
  now(): number;
  stage: ReturnType<typeof stageRoom>;
  /** Microphones of which a packet was forwarded here to anybody. */
  forwarded: Set<number>;
  answered: number;
}

/** One room in several media processes, with pipes between them, and microphones whose levels the test says. */
export function stageProcesses() {
  let passedMs = 0;
  const network = memoryNetwork();
  const processes: Process[] = [];
  const microphones: { give(packet: Buffer): void; sequence: number }[] = [];
  let pipes = 0;

  /** One more, which the room is in from now on. */
  function open(): Process {
    const aheadMs = CLOCKS_APART_MS * (processes.length + 1);
    const now = (): number => passedMs + aheadMs;
    const path = { isUp: true };
    const legs = new Legs(network.socket(path), { now, wall: now });
    const view = newRtpView();
    const forwarded = new Set<number>();
    const onForwarded = (packet: Buffer): void => {
      if (readRtp(packet, view)) forwarded.add(packet[view.payloadStart] ?? -1);
    };
    const stage = stageRoom((room) => legs.forRoom(room), {
      onForwarded,
      trackIds: `trk_${processes.length}`,
      startsAt: now(),
    });
    const opened = { legs, path, now, stage, forwarded, answered: 0 };
    const index = processes.push(opened) - 1;
    for (const [other, { legs: far }] of processes.slice(0, index).entries()) {
      const [own, theirs] = [++pipes, ++pipes];
      const settings: Omit<PipeSettings, 'id' | 'peerId' | 'end'> = {
        ...{ host: '', port: 0, secret: pipes.toString(16).padStart(64, '0'), datagramBytes: 8192 },
      };
      const [here, there] = [String(other), String(index)];
      legs.execute({ order: 'open', peer: here, settings: { ...settings, id: own, peerId: theirs, end: 'a' } });
      far.execute({ order: 'open', peer: there, settings: { ...settings, id: theirs, peerId: own, end: 'b' } });
      legs.execute({ order: 'link', peer: here, room: 'r' });
      far.execute({ order: 'link', peer: there, room: 'r' });
    }
    return opened;
  }

  /** The room is not there any more. */
  function close(one: Process): void {
    one.stage.room.close('ROOM_CLOSED');
    processes.splice(processes.indexOf(one), 1);
  }

  /** Somebody with a microphone, who is heard by its number. */
  function speaker({ stage }: Process, isAutoSubscribed = true): number {
    const number = microphones.length;
    const id = `speaker-${number}`;
    const { publisher } = stage.join(id, { isAutoSubscribed });
    const entry = { mid: '0', kind: 'audio' as const, direction: 'sendonly' as const, trackId: id };
    const extensions = { audioLevel: LEVEL_EXTENSION };
    publisher.offer([{ cid: id, kind: 'AUDIO', source: 'MICROPHONE' }], {
      ...local,
      media: [{ ...entry, codecs: [{ name: 'opus', pt: 111 }], ssrcs: [1000 + number], extensions }],
    });
    microphones.push({ give: (packet) => stage.give(packet, id), sequence: 0 });
    return number;
  }

  /** Answers what is offered, as a client does. */
  function answer(one: Process): void {
    const offers = one.stage.of('sub.offer');
    for (const { participant, revision } of offers.slice(one.answered))
      one.stage.room.participants.get(participant)?.subscriber.answer(revision, { ...local, media: [] });
    one.answered = offers.length;
  }

  async function packet(levelOf: (microphone: number) => number): Promise<void> {
    for (const [number, microphone] of microphones.entries()) {
      const sequence = ++microphone.sequence;
      const head = { sequence, ssrc: 1000 + number, payloadType: 111, timestamp: sequence * 960 };
      const extensions: [number, number[]][] = [[LEVEL_EXTENSION, [levelOf(number)]]];
      microphone.give(rtpPacket({ ...head, extensions, payload: Uint8Array.of(number) }));
    }
    passedMs += PACKET_MS;
    for (const one of processes) {
      await turn();
      one.legs.tick(one.now());
      one.stage.pass(PACKET_MS);
      answer(one);
    }
  }

  return {
    open,
    close,
    speaker,
    /** Everybody's packets of so long, at these levels (RFC 6464); 127 is silence. */
    async speak(levels: Readonly<Record<number, number>> | ((microphone: number) => number), ms: number) {
      const levelOf = typeof levels === 'function' ? levels : (number: number) => levels[number] ?? 127;
      for (let left = ms; left > 0; left -= PACKET_MS) await packet(levelOf);
    },
    /** Of what was forwarded since the last time, whose it was, for each process. */
    takeForwarded: () =>
      processes.map(({ forwarded }) => {
        const numbers = [...forwarded].sort((a, b) => a - b);
        forwarded.clear();
        return numbers;
      }),
  };
}
