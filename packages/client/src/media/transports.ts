import type { DataMessage } from '@parley/media-description';
import type { SvcError } from '../errors.ts';
import type { Runtime } from '../runtime.ts';
import type { Signal } from '../signal/signal-client.ts';
import type { Telemetry } from '../signal/telemetry.ts';
import { createMediaHealth, type TransportName } from './media-health.ts';
import { createPublisher, type Publisher } from './publisher.ts';
import { createReporter, type Reporter } from './reporter.ts';
import { createSubscriber, type Subscriber } from './subscriber.ts';

export interface TransportsDeps {
  runtime: Runtime;
  telemetry: Telemetry;
  signal: Pick<Signal, 'request' | 'whenConnected' | 'rejoin' | 'stop' | 'state'>;
  onTrack(trackId: string, media: MediaStreamTrack): void;
  onTrackGone(trackId: string): void;
  onData(message: DataMessage): void;
  onError(error: SvcError): void;
  /** Media stopped flowing, or flows again. */
  onBroken(isBroken: boolean): void;
}

export interface Transports {
  readonly publisher: Publisher;
  readonly subscriber: Subscriber;
  readonly reporter: Reporter;
  setIceServers(servers: RTCIceServer[]): void;
  /** The signaling connection is there. `isNew`: the session is another one, and both transports start from nothing. */
  signalConnected(isNew: boolean): Promise<void>;
  getStats(): Promise<{ pub: RTCStatsReport | null; sub: RTCStatsReport | null }>;
  close(): void;
}

/** Both peer connections of a call, and what watches over them. */
export function createTransports({ runtime, telemetry, signal, onBroken, ...on }: TransportsDeps): Transports {
  let iceServers: RTCIceServer[] = [];
  let hasConnected = false;
  /** Since the last connection of signaling. */
  let isOtherNetwork = false;
  let stopWatching = (): void => {};
  const newPeerConnection = (): RTCPeerConnection => new RTCPeerConnection({ iceServers });
  const watch = (name: TransportName) => (state: RTCPeerConnectionState) => {
    hasConnected ||= state === 'connected';
    reporter.transport(name, state);
    health.changed(name, state);
  };
  const publisher = createPublisher({
    newPeerConnection,
    publish: (offer) => signal.request({ type: 'publish', ...offer }),
    unpublish: (trackIds) => signal.request({ type: 'unpublish', trackIds }),
    restart: (description) => signal.request({ type: 'ice.restart', pc: 'pub', description }),
    whenConnected: signal.whenConnected,
    onState: watch('pub'),
  });
  const subscriber = createSubscriber({
    ...on,
    newPeerConnection,
    answer: (answer) => signal.request({ type: 'sub.answer', ...answer }),
    restart: (received) => signal.request({ type: 'ice.restart', pc: 'sub', received }),
    onState: watch('sub'),
    onFailed: () => health.changed('sub', 'failed'),
  });
  const sides = { pub: publisher, sub: subscriber };
  const reporter = createReporter({ runtime, telemetry, sides });
  const health = createMediaHealth({
    runtime,
    restart: (name) => sides[name].restart(),
    isSignalConnected: () => signal.state === 'connected',
    rejoin: signal.rejoin,
    giveUp: () => signal.stop(hasConnected ? 'node_lost' : 'no_media'),
    onBroken,
  });

  return {
    publisher,
    subscriber,
    reporter,
    setIceServers(servers) {
      iceServers = servers;
    },
    async signalConnected(isNew) {
      const republished = isNew ? publisher.reset() : undefined;
      // The browser takes five seconds to notice that a path is gone; a socket that did not survive says it now.
      if (isOtherNetwork && !isNew) {
        if (publisher.peer) health.changed('pub', 'failed');
        if (subscriber.peer) health.changed('sub', 'failed');
      } else health.signalConnected(isNew);
      isOtherNetwork = false;
      if (isNew) {
        reporter.start();
        stopWatching();
        stopWatching = runtime.onWake(({ type }) => {
          isOtherNetwork ||= type === 'online';
        });
      }
      await republished;
    },
    async getStats() {
      const [pub, sub] = await Promise.all([publisher.peer?.getStats(), subscriber.peer?.getStats()]);
      return { pub: pub ?? null, sub: sub ?? null };
    },
    close() {
      stopWatching();
      health.close();
      reporter.stop();
      subscriber.close();
      publisher.close();
    },
  };
}
