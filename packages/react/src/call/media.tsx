import type { LocalTrack, RemoteTrack, Room } from '@parley/client';
import { useTrackRef } from '@parley/client/react';
import type { Ref } from 'react';
import { useParticipants } from '../hooks/use-call.ts';

type Track = LocalTrack | RemoteTrack;

interface PictureProps {
  label: string;
  isMirrored?: boolean;
}

export const Picture = ({ track, ...props }: PictureProps & { track: Track }) => (
  <PictureFrame {...props} frame={useTrackRef(track)} />
);

/** Who has the element gives it a stream. */
export const PictureFrame = ({ frame, label, isMirrored }: PictureProps & { frame: Ref<HTMLVideoElement> }) => (
  <video
    className="parley-picture"
    ref={frame}
    autoPlay
    playsInline
    muted
    aria-label={label}
    data-mirrored={isMirrored || undefined}
  />
);

/** The sound of everybody else. Once on a page: tiles come and go, what is heard does not. */
export function RoomAudio({ room }: { room: Room }) {
  const sounds = useParticipants(room)
    .filter(({ isLocal }) => !isLocal)
    .flatMap(({ tracks }) => tracks.filter(({ kind }) => kind === 'audio'));
  return (
    <div className="parley-audio" hidden>
      {sounds.map(({ trackId, track }) => (
        <Sound key={trackId} track={track} />
      ))}
    </div>
  );
}

export function Sound({ track, isMuted }: { track: Track | null; isMuted?: boolean }) {
  const ref = useTrackRef(track);
  return <audio ref={ref} autoPlay muted={isMuted} />;
}
