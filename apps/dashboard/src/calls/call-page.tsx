import type { CallDetail } from '@parley/contract';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useParams } from 'wouter';
import { useApi } from '../data/services.tsx';
import { Page } from '../frame/page.tsx';
import { askFor, useProject } from '../frame/project.tsx';
import { QueryView } from '../frame/query-view.tsx';
import { useFilter } from '../frame/url.ts';
import { t } from '../i18n/t.ts';
import { Button } from '../kit/button.tsx';
import { CallView } from './call-view.tsx';
import { callQuery } from './queries.ts';
import { ShareDialog } from './share-dialog.tsx';

export default function CallPage() {
  const { callId = '' } = useParams<{ callId: string }>();
  const api = useApi();
  const { project, environment, to, may } = useProject();
  const query = useQuery(callQuery(api, project.id, environment, callId));
  const [trackId, setTrackId] = useFilter('track');
  const [isSharing, setSharing] = useState(false);
  const call = query.data;
  return (
    <Page
      title={call ? t('calls.callIn', { room: call.roomName ?? call.roomId ?? '' }) : t('calls.call')}
      query={query}
      lead={<Link href={to('calls')}>{t('calls.all')}</Link>}
      actions={
        call && (
          <>
            <Button onClick={() => download(call)}>{t('calls.export')}</Button>
            <Button
              disabled={!may('room:manage')}
              title={may('room:manage') ? undefined : askFor('room:manage')}
              onClick={() => setSharing(true)}
            >
              {t('calls.share')}
            </Button>
          </>
        )
      }
    >
      <QueryView query={query}>
        {(detail) => <CallView call={detail} trackId={trackId} onTrack={setTrackId} />}
      </QueryView>
      {isSharing && <ShareDialog callId={callId} onClose={() => setSharing(false)} />}
    </Page>
  );
}

function download(call: CallDetail): void {
  const address = URL.createObjectURL(new Blob([JSON.stringify(call, null, 2)], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = `call-${call.id}.json`;
  link.click();
  URL.revokeObjectURL(address);
}
