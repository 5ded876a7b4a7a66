/** What a test's page runs: the SDK as an application uses it, and a record of its events. */
import { LiveStream, type LiveStreamOptions, Room, type RoomOptions } from '@parley/client';

export * from '@parley/client';
export * as blur from '@parley/client/blur';
export * as chat from '@parley/client/chat';

export interface RemoteView {
  framesDecoded: number;
  frameWidth: number;
  framesPerSecond: number;
  audioEnergy: number;
}

/** One participant: a room, its tiles on the page, and every event in order. */
export class Caller {
  readonly room: Room;
  readonly log: string[] = [];
  readonly data: string[] = [];
  /** When join began, when it was done, when the first remote frame was there: ms. */
  readonly times: Record<string, number> = {};

  constructor(options: RoomOptions) {
    const room = new Room(options);
    this.room = room;
    room.on('connectionStateChanged', (state, previous, error) =>
      this.log.push(`${previous} → ${state}${error ? ` (${error.reason})` : ''}`),
    );
    room.on('participantJoined', ({ identity }) => this.log.push(`joined ${identity}`));
    room.on('participantLeft', ({ identity }, why) => this.log.push(`left ${identity} (${why})`));
    room.on('trackPublished', ({ kind }, { identity }) => this.log.push(`published ${identity} ${kind}`));
    room.on('trackSubscribed', (track, { identity }) => {
      this.log.push(`subscribed ${identity} ${track.source}`);
      const element = track.attach();
      element.dataset['tile'] = `${identity} ${track.source}`;
      if (element instanceof HTMLVideoElement) {
        Object.assign(element.style, { width: '640px', height: '360px' });
        element.requestVideoFrameCallback(() => {
          this.times['firstFrame'] ??= performance.now();
        });
      }
      document.body.append(element);
    });
    room.on('trackUnsubscribed', (track, { identity }) => this.log.push(`unsubscribed ${identity} ${track.source}`));
    room.on('trackMuted', (_track, { identity }) => this.log.push(`muted ${identity}`));
    room.on('trackUnmuted', (_track, { identity }) => this.log.push(`unmuted ${identity}`));
    room.on('trackStreamStateChanged', ({ source, streamState, pauseReason }, { identity }) =>
      this.log.push(`${streamState} ${identity} ${source}${pauseReason ? ` (${pauseReason})` : ''}`),
    );
    room.on('activeSpeakersChanged', (speakers) =>
      this.log.push(`speakers ${speakers.map(({ identity }) => identity).join(' ')}`),
    );
    room.on('dataReceived', (bytes, from, topic) =>
      this.data.push(`${from?.identity ?? 'server'} ${topic ?? '-'} ${new TextDecoder().decode(bytes)}`),
    );
    room.on('error', (error) => this.log.push(`error ${error.code}: ${error.message}`));
  }

  async join(): Promise<void> {
    this.times['join'] = performance.now();
    await this.room.connect();
    this.times['joined'] = performance.now();
  }

  tiles(): string[] {
    return [...document.querySelectorAll<HTMLElement>('[data-tile]')]
      .map(({ dataset }) => dataset['tile'] ?? '')
      .sort();
  }

  async view(identity: string): Promise<RemoteView> {
    const seen: RemoteView = { framesDecoded: 0, frameWidth: 0, framesPerSecond: 0, audioEnergy: 0 };
    for (const track of this.room.participants.get(identity)?.tracks.values() ?? []) {
      for (const report of (await track.getStats())?.values() ?? []) {
        if (report.type !== 'inbound-rtp') continue;
        if (track.kind === 'audio') seen.audioEnergy += report.totalAudioEnergy ?? 0;
        else if (track.source !== 'SCREEN_SHARE') {
          seen.framesDecoded += report.framesDecoded ?? 0;
          seen.frameWidth = report.frameWidth ?? 0;
          seen.framesPerSecond = report.framesPerSecond ?? 0;
        }
      }
    }
    return seen;
  }
}

/** One side of a live stream, as an application uses `LiveStream`. */
export class Attendee {
  readonly stream: LiveStream;
  readonly heard: string[] = [];
  readonly log: string[] = [];
  /** When the stay ended, by the wall clock. */
  endedAt = 0;

  constructor(options: LiveStreamOptions) {
    this.stream = new LiveStream(options);
    const { room } = this.stream;
    room.on('connectionStateChanged', (state, previous, error) => {
      this.log.push(`${previous} → ${state}${error ? ` (${error.reason})` : ''}`);
      if (state === 'disconnected') this.endedAt = Date.now();
    });
    room.on('trackSubscribed', (track) => {
      const element = track.attach();
      if (element instanceof HTMLVideoElement) Object.assign(element.style, { width: '160px', height: '90px' });
      document.body.append(element);
    });
    room.on('dataReceived', () => this.log.push('data'));
  }

  async join(): Promise<void> {
    await this.stream.join();
    this.stream.chat.on('message', ({ senderId, text }) => this.heard.push(`${senderId}: ${text}`));
  }

  /** Of all video that arrives. */
  async framesDecoded(): Promise<number> {
    const { sub } = await this.stream.room.getStats();
    const reports = [...(sub?.values() ?? [])].filter(({ type, kind }) => type === 'inbound-rtp' && kind === 'video');
    return reports.reduce((sum, { framesDecoded = 0 }) => sum + framesDecoded, 0);
  }
}
