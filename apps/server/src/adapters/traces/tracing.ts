import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import { createTracer, noTracer, type Tracer } from '../../core/tracing.ts';
import { createOtlpSink, type OtlpOptions } from './otlp.ts';

interface TracingDeps {
  /** Null where no collector is named: then nothing is traced. */
  traces: (Omit<OtlpOptions, 'log'> & { sampleRatio: number }) | null;
  clock: Clock;
  log: Log;
  random: () => number;
}

/** A tracer, and what sends its spans until the process stops. */
export function createTracing({ traces, clock, log, random }: TracingDeps): {
  tracer: Tracer;
  stop(): Promise<void>;
} {
  if (traces === null) return { tracer: noTracer, stop: async () => {} };
  const sink = createOtlpSink({ ...traces, log });
  const tracer = createTracer({ clock, sampleRatio: traces.sampleRatio, random, onEnd: sink.take });
  return { tracer, stop: sink.close };
}
