import type { LocalTrack, ParticipantState, RemoteTrack } from '@parley/client';
import { useTrackRef } from '@parley/client/react';
import { memo } from 'react';
import { shownName } from './identity.ts';

type Track = LocalTrack | RemoteTrack;

/** One participant: picture, name, and in words what a picture cannot say. */
export const Tile = memo(({ participant, note }: { participant: ParticipantState; note?: string }) => {
  const { tracks } = participant;
  // Of a camera that is off the last picture would stay.
  const videos = tracks.filter(({ kind, isSubscribed, isMuted }) => kind === 'video' && isSubscribed && !isMuted);
  const sounds = participant.isLocal ? [] : tracks.filter(({ kind }) => kind === 'audio');
  const microphone = tracks.find(({ kind }) => kind === 'audio');
  const isMuted = microphone === undefined || microphone.isMuted;
  const isPaused = videos.some(({ pauseReason }) => pauseReason === 'bandwidth');
  const name = shownName(participant.identity) || 'You';
  const level = Math.min(1, participant.audioLevel * 4);
  return (
    <li className="tile" data-speaking={participant.isSpeaking || undefined} data-identity={participant.identity}>
      {videos.length === 0 && <p className="tile-empty">{name} sends no picture</p>}
      {videos.map(({ trackId, track }, index) => (
        <Video key={trackId} track={track} label={`${name}${index > 0 ? ', screen' : ''}`} />
      ))}
      {sounds.map(({ trackId, track }) => (
        <Sound key={trackId} track={track} />
      ))}
      <p className="tile-caption">
        <strong>{participant.isLocal ? `${name} (you)` : name}</strong>
        {note ? <span>{note}</span> : null}
        {isPaused && <span>Paused: the network is slow</span>}
        <span>{isMuted ? 'Muted' : participant.isSpeaking ? 'Speaking' : 'Microphone on'}</span>
        <span>{participant.quality === null ? '' : `Connection ${participant.quality}`}</span>
        {!isMuted && <meter min={0} max={1} value={level} aria-label={`Sound level of ${name}`} />}
      </p>
    </li>
  );
});

function Video({ track, label }: { track: Track | null; label: string }) {
  const ref = useTrackRef(track);
  return <video ref={ref} autoPlay playsInline muted aria-label={`Picture of ${label}`} />;
}

function Sound({ track }: { track: Track | null }) {
  const ref = useTrackRef(track);
  // biome-ignore lint/a11y/useMediaCaption: a live call has no captions.
  return <audio ref={ref} autoPlay />;
}
