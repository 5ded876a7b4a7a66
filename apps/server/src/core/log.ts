import { pino } from 'pino';

/** Structured logs. Fields whose name could hold a secret are always redacted. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

const secretNames = [
  'authorization',
  'cookie',
  'set-cookie',
  'token',
  'secret',
  'password',
  'svc-signature',
  'key',
  'accessToken',
];
const redact = secretNames.flatMap((name) => [`["${name}"]`, `*["${name}"]`, `*.*["${name}"]`]);

type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

export const createLog = (level: LogLevel): Log =>
  pino({
    level,
    base: null,
    serializers: { error: pino.stdSerializers.err },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: { paths: redact, censor: '[redacted]' },
  });
