import type { ChatUserMetadata } from '@parley/contract';
import { Badge } from '../kit/badge.tsx';
import { Ago } from '../kit/time.tsx';
import { t } from './texts.ts';

export const Nothing = () => <span className="no-data">{t('words.none')}</span>;

export function LastSeen({ user: { isConnected, lastSeenAt } }: { user: ChatUserMetadata }) {
  if (isConnected) return <Badge tone="ok">{t('users.connectedNow')}</Badge>;
  return lastSeenAt === null ? <span className="no-data">{t('users.noSession')}</span> : <Ago at={lastSeenAt} />;
}
