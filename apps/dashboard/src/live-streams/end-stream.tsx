import type { LiveStreamWithHosts } from '@parley/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useApi } from '../data/services.tsx';
import { useAction } from '../data/use-action.ts';
import { askFor, useProject } from '../frame/project.tsx';
import { t } from '../i18n/t.ts';
import { Button } from '../kit/button.tsx';
import { ConfirmDialog } from '../kit/dialog.tsx';
import { useToast } from '../kit/toast.tsx';
import { streamKeys } from './queries.ts';

export function EndStream({ stream }: { stream: LiveStreamWithHosts }) {
  const api = useApi();
  const client = useQueryClient();
  const toast = useToast();
  const { project, environment, may } = useProject();
  const [isAsking, setAsking] = useState(false);
  const end = useAction(
    () => api.call('endProjectLiveStream', { projectId: project.id, streamId: stream.id, query: { environment } }),
    {
      onDone: async () => {
        setAsking(false);
        toast(t('live-streams.endedNamed', { title: stream.title }));
        await client.invalidateQueries({ queryKey: streamKeys.one(project.id, environment, stream.id) });
        await client.invalidateQueries({ queryKey: streamKeys.list(project.id, environment) });
      },
    },
  );
  const mayEnd = may('live_stream:manage');
  return (
    <>
      <Button
        variant="danger"
        disabled={!mayEnd}
        title={mayEnd ? undefined : askFor('live_stream:manage')}
        onClick={() => setAsking(true)}
      >
        {t('live-streams.end')}
      </Button>
      {isAsking && (
        <ConfirmDialog
          title={t('live-streams.endNamed', { title: stream.title })}
          action={t('live-streams.end')}
          typed={stream.title}
          isBusy={end.isBusy}
          failure={end.failure}
          onConfirm={() => void end.run(undefined)}
          onClose={() => setAsking(false)}
        >
          <p>{t('live-streams.endExplained')}</p>
        </ConfirmDialog>
      )}
    </>
  );
}
