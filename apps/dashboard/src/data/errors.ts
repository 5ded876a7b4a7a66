import { ApiError, isParleyError } from '@parley/server/call';
import type { PlainKey } from '../i18n/catalogue.ts';
import { t } from '../i18n/t.ts';

/** What a page shows about a failed call. */
export interface Explained {
  kind: 'invalid' | 'permission' | 'notFound' | 'conflict' | 'rateLimited' | 'signedOut' | 'offline' | 'server';
  title: string;
  message: string;
  /** The `SVC_` code and the request id, where the service answered at all. */
  code: string | null;
  requestId: string | null;
  retryAfterSeconds: number | null;
  /** The permission that was missing. */
  permission: string | null;
  /** Messages by field of the body, as the service names them. */
  fields: Readonly<Record<string, string>>;
}

const titles: Readonly<Record<Explained['kind'], PlainKey>> = {
  invalid: 'error.invalid',
  permission: 'error.permission',
  notFound: 'error.notFound',
  conflict: 'error.conflict',
  rateLimited: 'error.rateLimited',
  signedOut: 'error.signedOut',
  offline: 'error.offline',
  server: 'error.server',
};

export function explain(error: unknown): Explained {
  if (error instanceof ApiError) return explainAnswer(error);
  // No answer at all; of what the page fetches by itself, fetch says so with a TypeError.
  const isNetwork = error instanceof TypeError || (isParleyError(error) && error.code === 'network');
  return {
    kind: isNetwork ? 'offline' : 'server',
    title: t(titles[isNetwork ? 'offline' : 'server']),
    message: isNetwork ? t('error.checkConnection') : t('error.unreadable'),
    code: null,
    requestId: null,
    retryAfterSeconds: null,
    permission: null,
    fields: {},
  };
}

function explainAnswer({ status, code, requestId, message, body }: ApiError): Explained {
  const kind = kindOf(status, code);
  const extra: Readonly<Record<string, unknown>> = { ...body };
  return {
    kind,
    title: t(titles[kind]),
    message,
    code,
    requestId,
    retryAfterSeconds: kind === 'rateLimited' ? (body.retryAfterSeconds ?? 1) : null,
    permission: typeof extra['permission'] === 'string' ? extra['permission'] : null,
    fields: Object.fromEntries((body.details ?? []).map((detail) => [detail.field, detail.message])),
  };
}

function kindOf(status: number, code: string): Explained['kind'] {
  if (status === 400 || status === 413 || status === 422) return 'invalid';
  if (status === 401) return code === 'SVC_INVALID_CREDENTIALS' ? 'invalid' : 'signedOut';
  if (status === 403) return 'permission';
  if (status === 404) return 'notFound';
  if (status === 409) return 'conflict';
  return status === 429 ? 'rateLimited' : 'server';
}
