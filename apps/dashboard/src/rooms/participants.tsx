import type { Participant, RoomDetail, Track } from '@parley/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { useApi } from '../data/services.tsx';
import { useAction } from '../data/use-action.ts';
import { askFor, useProject } from '../frame/project.tsx';
import { t } from '../i18n/t.ts';
import { Badge } from '../kit/badge.tsx';
import { Button } from '../kit/button.tsx';
import { ConfirmDialog } from '../kit/dialog.tsx';
import { NoData } from '../kit/empty-state.tsx';
import { ErrorNotice } from '../kit/error-notice.tsx';
import { Table } from '../kit/table.tsx';
import { Ago } from '../kit/time.tsx';
import { useToast } from '../kit/toast.tsx';
import { roomKeys } from './queries.ts';
import { permissionWords, qualities, sourceInSentence, sourceName, stateWord } from './words.ts';

export function ParticipantTable({ room, participants }: { room: RoomDetail; participants: readonly Participant[] }) {
  const { to, may } = useProject();
  const [removing, setRemoving] = useState<Participant | null>(null);
  return (
    <>
      <Table
        caption={t('rooms.participantsOf', { name: room.name })}
        rows={participants}
        keyOf={({ sessionId }) => sessionId}
        copyOf={({ identity }) => identity}
        columns={[
          {
            head: t('words.identity'),
            cell: ({ identity, state, kind }) => (
              <span className="two-lines">
                <strong>{identity}</strong>
                <span className="muted">
                  {kind === 'VIEWER' ? t('rooms.viewer', { state: stateWord(state) }) : stateWord(state)}
                </span>
              </span>
            ),
          },
          { head: t('words.joined'), cell: ({ joinedAt }) => <Ago at={joinedAt} /> },
          {
            head: t('rooms.quality'),
            cell: ({ quality }) => {
              if (quality === null) return <NoData />;
              const [word, tone] = qualities[quality];
              return <Badge tone={tone}>{t(word)}</Badge>;
            },
          },
          { head: t('rooms.may'), cell: ({ permissions }) => permissionWords(permissions) },
          {
            head: t('rooms.tracks'),
            cell: ({ identity, tracks }) =>
              tracks.length === 0 ? (
                <span className="no-data">{t('words.none')}</span>
              ) : (
                <ul className="track-list">
                  {tracks.map((track) => (
                    <TrackRow key={track.id} room={room} identity={identity} track={track} />
                  ))}
                </ul>
              ),
          },
          {
            head: t('words.connection'),
            cell: ({ connectionId }) =>
              connectionId === null ? (
                <NoData />
              ) : (
                <Link href={to(`connections/${connectionId}`)}>{t('words.timeline')}</Link>
              ),
          },
          {
            head: '',
            align: 'end',
            cell: (participant) => (
              <Button
                variant="quiet"
                aria-label={t('rooms.removeNamed', { identity: participant.identity })}
                disabled={!may('room:manage')}
                title={may('room:manage') ? undefined : askFor('room:manage')}
                onClick={() => setRemoving(participant)}
              >
                {t('words.remove')}
              </Button>
            ),
          },
        ]}
      />
      {removing && <RemoveDialog room={room} participant={removing} onClose={() => setRemoving(null)} />}
    </>
  );
}

/** What a track is, and its mute switch: reversible, so it asks nothing. */
function TrackRow({ room, identity, track }: { room: RoomDetail; identity: string; track: Track }) {
  const api = useApi();
  const client = useQueryClient();
  const { project, environment, may } = useProject();
  const mute = useAction(
    (muted: boolean) =>
      api.call('muteProjectTrack', {
        projectId: project.id,
        roomId: room.id,
        identity,
        trackId: track.id,
        query: { environment },
        body: { muted },
      }),
    { onDone: () => client.invalidateQueries({ queryKey: roomKeys.one(project.id, environment, room.id) }) },
  );
  const facts = [
    track.codec,
    track.width === null || track.height === null ? null : `${track.width}×${track.height}`,
    track.simulcast ? t('rooms.layers', { count: track.layers.length }) : null,
  ].filter((fact) => fact !== null);
  return (
    <li>
      <span>
        {sourceName(track)}
        {track.muted && <span className="muted"> {t('rooms.muted')}</span>}
      </span>
      {facts.length > 0 && <span className="muted">{facts.join(', ')}</span>}
      {may('room:manage') && (
        <Button
          variant="quiet"
          isBusy={mute.isBusy}
          aria-label={t(track.muted ? 'rooms.unmuteTrack' : 'rooms.muteTrack', {
            track: sourceInSentence(track),
            identity,
          })}
          onClick={() => mute.run(!track.muted)}
        >
          {track.muted ? t('rooms.unmute') : t('rooms.mute')}
        </Button>
      )}
      {mute.failure && <ErrorNotice failure={mute.failure} />}
    </li>
  );
}

function RemoveDialog(props: { room: RoomDetail; participant: Participant; onClose: () => void }) {
  const api = useApi();
  const client = useQueryClient();
  const toast = useToast();
  const { project, environment } = useProject();
  const { identity } = props.participant;
  const remove = useAction(
    () =>
      api.call('removeProjectParticipant', {
        projectId: project.id,
        roomId: props.room.id,
        identity,
        query: { environment },
      }),
    {
      onDone: async () => {
        await client.invalidateQueries({ queryKey: roomKeys.one(project.id, environment, props.room.id) });
        toast(t('rooms.removedNamed', { identity }));
        props.onClose();
      },
    },
  );
  return (
    <ConfirmDialog
      title={t('rooms.removeAsk', { identity })}
      action={t('rooms.removeParticipant')}
      isBusy={remove.isBusy}
      failure={remove.failure}
      onConfirm={() => void remove.run(undefined)}
      onClose={props.onClose}
    >
      <p>{t('rooms.removeExplained', { room: props.room.name })}</p>
    </ConfirmDialog>
  );
}
