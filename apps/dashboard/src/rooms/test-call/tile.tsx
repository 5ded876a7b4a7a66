import type { LocalTrack, ParticipantState, RemoteTrack } from '@parley/client';
import { useTrackRef } from '@parley/client/react';
import { memo } from 'react';
import { MicIcon, MicOffIcon } from '../../kit/icons.tsx';

type Media = LocalTrack | RemoteTrack;

const qualityWords = { good: 'Good', fair: 'Fair', poor: 'Poor', lost: 'Lost' } as const;

/** One participant: picture, name, and whether they can be heard. */
export const Tile = memo(({ participant }: { participant: ParticipantState }) => {
  const here = participant.tracks.filter(({ isSubscribed }) => isSubscribed);
  const screen = here.find(({ source }) => source === 'SCREEN_SHARE');
  const camera = here.find(({ kind, source }) => kind === 'video' && source !== 'SCREEN_SHARE');
  const picture = screen ?? (camera && !camera.isMuted ? camera : undefined);
  const microphone = here.find(({ source }) => source === 'MICROPHONE');
  const isSilent = microphone === undefined || microphone.isMuted;
  return (
    <li className="tile" data-speaking={participant.isSpeaking && !isSilent}>
      {picture ? (
        <Picture key={picture.trackId} track={picture.track} name={participant.identity} />
      ) : (
        <span className="tile-blank" aria-hidden="true">
          {participant.identity.slice(0, 1).toUpperCase()}
        </span>
      )}
      {!participant.isLocal &&
        here.filter(({ kind }) => kind === 'audio').map(({ trackId, track }) => <Sound key={trackId} track={track} />)}
      <span className="tile-name">
        {isSilent ? <MicOffIcon /> : <MicIcon />}
        <span className="visually-hidden">{isSilent ? 'Muted:' : 'Microphone on:'}</span>
        <span>{participant.isLocal ? 'You' : participant.identity}</span>
        {participant.quality && <span className="tile-quality">{qualityWords[participant.quality]}</span>}
      </span>
    </li>
  );
});

function Picture({ track, name }: { track: Media | null; name: string }) {
  return <video ref={useTrackRef(track)} muted playsInline aria-label={`Video of ${name}`} />;
}

function Sound({ track }: { track: Media | null }) {
  // biome-ignore lint/a11y/useMediaCaption: a live voice has no captions to offer.
  return <audio ref={useTrackRef(track)} />;
}
