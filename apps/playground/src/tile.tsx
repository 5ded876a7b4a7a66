import type { LocalTrack, Participant, RemoteTrack } from '@parley/client';
import { useTrackRef } from '@parley/client/react';
import { shownName } from './identity.ts';

type Track = LocalTrack | RemoteTrack;

const tracksOf = (participant: Participant): Track[] =>
  participant.isLocal ? [...participant.tracks] : [...participant.tracks.values()];

const isVideo = (track: Track): boolean => track.mediaStreamTrack.kind === 'video';

/** One participant: picture, name, and in words what a picture cannot say. */
export function Tile({ participant, note }: { participant: Participant; note?: string }) {
  const tracks = tracksOf(participant);
  // Of a camera that is off the last picture would stay.
  const videos = tracks.filter((track) => isVideo(track) && !track.isMuted);
  const sounds = participant.isLocal ? [] : tracks.filter((track) => !isVideo(track));
  const microphone = tracks.find((track) => !isVideo(track));
  const isMuted = microphone === undefined || microphone.isMuted;
  const name = shownName(participant.identity) || 'You';
  const level = Math.min(1, participant.audioLevel * 4);
  return (
    <li className="tile" data-speaking={participant.isSpeaking || undefined} data-identity={participant.identity}>
      {videos.length === 0 && <p className="tile-empty">{name} sends no picture</p>}
      {videos.map((track, index) => (
        <Video key={track.id ?? index} track={track} label={`${name}${index > 0 ? ', screen' : ''}`} />
      ))}
      {sounds.map((track, index) => (
        <Sound key={track.id ?? index} track={track} />
      ))}
      <p className="tile-caption">
        <strong>{participant.isLocal ? `${name} (you)` : name}</strong>
        {note ? <span>{note}</span> : null}
        <span>{isMuted ? 'Muted' : participant.isSpeaking ? 'Speaking' : 'Microphone on'}</span>
        <span>{participant.quality === null ? '' : `Connection ${participant.quality}`}</span>
        {!isMuted && <meter min={0} max={1} value={level} aria-label={`Sound level of ${name}`} />}
      </p>
    </li>
  );
}

function Video({ track, label }: { track: Track; label: string }) {
  const ref = useTrackRef(track);
  return <video ref={ref} autoPlay playsInline muted aria-label={`Picture of ${label}`} />;
}

function Sound({ track }: { track: Track }) {
  const ref = useTrackRef(track);
  // biome-ignore lint/a11y/useMediaCaption: a live call has no captions.
  return <audio ref={ref} autoPlay />;
}
