import type { LocalTrack, Participant, RemoteTrack } from '@parley/client';
import { useTrackRef } from '@parley/client/react';
import { MicIcon, MicOffIcon } from '../../kit/icons.tsx';

type Media = LocalTrack | RemoteTrack;

const qualityWords = { good: 'Good', fair: 'Fair', poor: 'Poor', lost: 'Lost' } as const;

/** All media of one participant, received or sent. */
const mediaOf = (participant: Participant): Media[] =>
  participant.isLocal ? [...participant.tracks] : [...participant.tracks.values()];

/** One participant: picture, name, and whether they can be heard. */
export function Tile({ participant }: { participant: Participant }) {
  const media = mediaOf(participant);
  const screen = media.find(({ source }) => source === 'SCREEN_SHARE');
  const camera = media.find(({ kind, source }) => kind === 'video' && source !== 'SCREEN_SHARE');
  const picture = screen ?? (camera && !camera.isMuted ? camera : undefined);
  const microphone = media.find(({ source }) => source === 'MICROPHONE');
  const isSilent = microphone === undefined || microphone.isMuted;
  return (
    <li className="tile" data-speaking={participant.isSpeaking && !isSilent}>
      {picture ? (
        <Picture key={`${picture.source} ${picture.id ?? ''}`} track={picture} name={participant.identity} />
      ) : (
        <span className="tile-blank" aria-hidden="true">
          {participant.identity.slice(0, 1).toUpperCase()}
        </span>
      )}
      {!participant.isLocal &&
        media.filter(({ kind }) => kind === 'audio').map((track) => <Sound key={track.id} track={track} />)}
      <span className="tile-name">
        {isSilent ? <MicOffIcon /> : <MicIcon />}
        <span className="visually-hidden">{isSilent ? 'Muted:' : 'Microphone on:'}</span>
        <span>{participant.isLocal ? 'You' : participant.identity}</span>
        {participant.quality && <span className="tile-quality">{qualityWords[participant.quality]}</span>}
      </span>
    </li>
  );
}

function Picture({ track, name }: { track: Media; name: string }) {
  return <video ref={useTrackRef(track)} muted playsInline aria-label={`Video of ${name}`} />;
}

function Sound({ track }: { track: Media }) {
  // biome-ignore lint/a11y/useMediaCaption: a live voice has no captions to offer.
  return <audio ref={useTrackRef(track)} />;
}
