import type { TelemetryEvent } from '@parley/contract';
import type { RtcTokenCaller } from '../../core/caller.ts';
import type { Clock } from '../../core/clock.ts';
import type { RequestInfo } from '../../core/handlers.ts';
import type { createSampleWriter } from './calls/writer.ts';
import type { Recorder } from './recorder.ts';

const dataBytesMax = 4_096;
const dataDepthMax = 4;
/** Of samples, which are read and packed before they are stored. */
const sampleBytesMax = 16_384;
const clockSkewMax = 24 * 60 * 60 * 1000;

interface TelemetryDeps {
  recorder: Recorder;
  samples: Pick<ReturnType<typeof createSampleWriter>, 'take'>;
  clock: Clock;
}

/** Takes a client's steps. Whatever is odd about one is dropped or mended, never an error: telemetry must not fail calls. */
export function createTelemetry({ recorder, samples, clock }: TelemetryDeps) {
  return async (
    caller: RtcTokenCaller,
    event: TelemetryEvent,
    request: RequestInfo,
  ): Promise<{ accepted: boolean; truncated?: boolean }> => {
    const { connectionId, type, timestamp, data } = event;
    if (type === 'stats.sample') {
      const fits = data !== undefined && JSON.stringify(data).length <= sampleBytesMax;
      return { accepted: fits && (await samples.take({ ...caller, connectionId }, data)) };
    }
    const fits = data === undefined || (JSON.stringify(data).length <= dataBytesMax && depthOf(data) <= dataDepthMax);
    const accepted = await recorder.store({
      projectId: caller.projectId,
      environment: caller.environment,
      connectionId,
      roomId: caller.roomId,
      identity: caller.identity,
      tokenId: caller.tokenId,
      type,
      source: 'CLIENT',
      at: readTime(timestamp, clock.now()),
      ...(data !== undefined && fits ? { data } : {}),
      about: { clientIp: request.ip, userAgent: request.userAgent },
    });
    return fits ? { accepted } : { accepted, truncated: true };
  };
}

/** The client's time when it is one and not absurd, else the time we got it. */
function readTime(timestamp: string | undefined, now: number): number {
  const time = timestamp === undefined ? Number.NaN : Date.parse(timestamp);
  return Number.isNaN(time) || Math.abs(time - now) > clockSkewMax ? now : time;
}

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}
