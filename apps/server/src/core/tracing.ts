import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import type { Clock } from './clock.ts';
import type { Db } from './db.ts';

type Attributes = Readonly<Record<string, string | number | boolean | null>>;
type SpanKind = 'internal' | 'server' | 'client';

/** A piece of work that has ended; times in epoch milliseconds, with fractions. */
export interface FinishedSpan {
  traceId: string;
  spanId: string;
  parentSpanId: string | null;
  name: string;
  kind: SpanKind;
  startMs: number;
  endMs: number;
  attributes: Attributes;
  isFailed: boolean;
}

/** Work under way. */
export interface Span {
  /** The W3C `traceparent` for the next hop. */
  readonly traceparent: string;
  rename(name: string): void;
  set(attributes: Attributes): void;
  /** Ends it; a second time changes nothing. */
  end(result?: { isFailed: boolean }): void;
}

interface SpanOptions {
  kind?: SpanKind;
  attributes?: Attributes;
  /** A `traceparent` from outside; what runs around the call when it is left out. */
  parent?: string | undefined;
}

/** Traces by the W3C rules. When tracing is off, every call only runs its work. */
export interface Tracer {
  readonly isOn: boolean;
  /** Whether the caller runs inside a span. */
  isInside(): boolean;
  /** Runs `work` inside a span that ends, failed or not, with it. */
  trace<T>(name: string, options: SpanOptions, work: (span: Span | null) => Promise<T>): Promise<T>;
  /** A span for what is not one function; `enter` runs something inside it. */
  begin(name: string, options: SpanOptions): { span: Span; enter: <T>(work: () => T) => T } | null;
}

export const noTracer: Tracer = {
  isOn: false,
  isInside: () => false,
  trace: (_name, _options, work) => work(null),
  begin: () => null,
};

/** As a parent: starts a new trace, whatever the work was started by. */
export const ownTrace = '';

interface Context {
  traceId: string;
  spanId: string;
  isSampled: boolean;
}

interface TracerDeps {
  clock: Clock;
  /** 0 to 1: how many of the traces that begin here are kept. A caller's own decision is followed. */
  sampleRatio: number;
  random: () => number;
  onEnd: (span: FinishedSpan) => void;
}

export function createTracer({ clock, sampleRatio, random, onEnd }: TracerDeps): Tracer {
  const around = new AsyncLocalStorage<Context>();

  function start(name: string, { kind = 'internal', attributes = {}, parent }: SpanOptions): [Context, Span] {
    const above = parent === undefined ? around.getStore() : readTraceparent(parent);
    const context: Context = {
      traceId: above?.traceId ?? randomBytes(16).toString('hex'),
      spanId: randomBytes(8).toString('hex'),
      isSampled: above?.isSampled ?? random() < sampleRatio,
    };
    const [startMs, begun] = [clock.now(), performance.now()];
    let [currentName, known, isEnded] = [name, attributes, false];
    const span: Span = {
      traceparent: `00-${context.traceId}-${context.spanId}-${context.isSampled ? '01' : '00'}`,
      rename(better) {
        currentName = better;
      },
      set(more) {
        known = { ...known, ...more };
      },
      end({ isFailed } = { isFailed: false }) {
        if (isEnded || !context.isSampled) return;
        isEnded = true;
        const { traceId, spanId } = context;
        const endMs = startMs + performance.now() - begun;
        const parentSpanId = above?.spanId ?? null;
        onEnd({ traceId, spanId, parentSpanId, name: currentName, kind, startMs, endMs, attributes: known, isFailed });
      },
    };
    return [context, span];
  }

  return {
    isOn: true,
    isInside: () => around.getStore() !== undefined,
    async trace(name, options, work) {
      const [context, span] = start(name, options);
      try {
        const result = await around.run(context, () => work(span));
        span.end();
        return result;
      } catch (error) {
        span.end({ isFailed: true });
        throw error;
      }
    },
    begin(name, options) {
      const [context, span] = start(name, options);
      return { span, enter: (work) => around.run(context, work) };
    },
  };
}

/** Version 00 and whatever later ones add behind it; null for anything else, which starts a new trace. */
export function readTraceparent(text: string): Context | null {
  const [, version, traceId = '', spanId = '', flags = ''] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/.exec(text.trim()) ?? [];
  if (version === undefined || version === 'ff' || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** Every transaction of something that is traced is a span; those of sweeps and timers are not. */
export function traceTransactions(db: Db, tracer: Tracer): Db {
  if (!tracer.isOn) return db;
  const options = { kind: 'client', attributes: { 'db.system': 'postgresql' } } as const;
  const transaction: Db['transaction'] = (work) =>
    tracer.isInside()
      ? tracer.trace('database transaction', options, () => db.transaction(work))
      : db.transaction(work);
  return { ...db, transaction };
}
