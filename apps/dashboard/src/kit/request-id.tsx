import { createContext, use } from 'react';
import { Link } from 'wouter';
import { t } from '../i18n/t.ts';
import { CopyButton } from './copy.tsx';

/** Where the log of requests shows one; null outside a project. */
export const RequestAddress = createContext<((requestId: string) => string) | null>(null);

/** A request id that opens its entry in the log, and can be copied. */
export function RequestId({ id }: { id: string }) {
  const addressOf = use(RequestAddress);
  return (
    <span className="copy-id">
      {addressOf === null ? (
        <span className="mono">{id}</span>
      ) : (
        <Link className="mono" href={addressOf(id)}>
          {id}
        </Link>
      )}
      <CopyButton text={id} label={t('kit.copyRequestId')} />
    </span>
  );
}
