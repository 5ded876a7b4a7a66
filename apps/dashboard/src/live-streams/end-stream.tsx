import type { LiveStreamWithHosts } from '@parley/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useApi } from '../data/services.tsx';
import { useAction } from '../data/use-action.ts';
import { askFor, useProject } from '../frame/project.tsx';
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
        toast(`Ended ${stream.title}`);
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
        End stream
      </Button>
      {isAsking && (
        <ConfirmDialog
          title={`End ${stream.title}?`}
          action="End stream"
          typed={stream.title}
          isBusy={end.isBusy}
          failure={end.failure}
          onConfirm={() => void end.run(undefined)}
          onClose={() => setAsking(false)}
        >
          <p>
            Viewers are disconnected, the room closes and the conversation is archived. An ended stream does not start
            again.
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}
