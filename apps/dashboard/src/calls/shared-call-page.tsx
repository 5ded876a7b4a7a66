import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useServices } from '../data/services.tsx';
import { Page } from '../frame/page.tsx';
import { QueryView } from '../frame/query-view.tsx';
import { t } from '../i18n/t.ts';
import { CallView } from './call-view.tsx';

/** A call behind a signed link; nobody is signed in. */
export default function SharedCallPage() {
  const { anonymous } = useServices();
  const [token] = useState(() => location.hash.slice(1));
  const [trackId, setTrackId] = useState('');
  const query = useQuery({
    queryKey: ['shared-call', token],
    queryFn: ({ signal }) => anonymous.call('readSharedCall', { body: { token } }, { signal }),
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <main className="shared-call">
      <Page
        title={query.data?.roomName ? t('calls.callIn', { room: query.data.roomName }) : t('calls.call')}
        lead={t('calls.sharedLead')}
      >
        <QueryView query={query}>{(call) => <CallView call={call} trackId={trackId} onTrack={setTrackId} />}</QueryView>
      </Page>
    </main>
  );
}
