import type { LiveStream, ParticipantState, TrackState } from '@parley/client';
import { type ReactNode, useRef, useState } from 'react';
import { Picture, Sound } from '../call/media.tsx';
import { type LiveStreamState, useStream } from '../hooks/stream.ts';
import { FullscreenIcon, PeopleIcon, SpeakerIcon, SpeakerOffIcon } from '../icons.tsx';
import { toggleFullScreen } from '../shared/full-screen.ts';
import { IconButton } from '../shared/icon-button.tsx';
import { useProblem } from '../shared/problem-line.tsx';
import { type Texts, useTexts } from '../texts.tsx';

export interface StreamPlayerProps {
  stream: LiveStream;
  /** As your backend knows it; left out, a stream with a picture is live. */
  status?: 'CREATED' | 'LIVE' | 'ENDED' | null;
  /** As your backend knows it. */
  viewerCount?: number | null;
  nameOf?: (identity: string) => string;
  /** Further buttons. */
  children?: ReactNode;
  className?: string;
}

/** Watches a live stream: its pictures and its sound, whether it is live, and how many watch. */
export function StreamPlayer({ stream, ...props }: StreamPlayerProps) {
  return <StreamStage {...props} state={useStream(stream)} onStartAudio={() => void stream.room.startAudio()} />;
}

export interface StreamStageProps extends Omit<StreamPlayerProps, 'stream'> {
  state: LiveStreamState;
  onStartAudio: () => void;
}

/** The player of a stream that is joined elsewhere. */
export function StreamStage(props: StreamStageProps) {
  const { state, status, viewerCount = null, nameOf, onStartAudio, children, className } = props;
  const texts = useTexts();
  const [isMuted, setMuted] = useState(false);
  const frame = useRef<HTMLElement>(null);
  const pictures = state.hosts.flatMap((host) => picturesOf(host).map((track) => ({ host, track })));
  const isEnded = status === 'ENDED' || (state.isEnded && status !== 'CREATED');
  const isLive = !isEnded && (status ? status === 'LIVE' : pictures.length > 0);
  const problem = useProblem(state.error);
  const note = noteOf(state, status ?? null, isEnded, pictures.length, texts, problem);
  const name = (host: ParticipantState): string => nameOf?.(host.identity) ?? host.name;
  return (
    <section ref={frame} className={`parley parley-dark parley-stream ${className ?? ''}`} aria-label={texts.stream}>
      {!isEnded && (
        <div className="parley-stream-pictures" data-count={pictures.length}>
          {pictures.map(({ host, track }) => (
            <div key={track.trackId} className="parley-stream-picture" data-identity={host.identity}>
              {track.track && <Picture track={track.track} label={texts.pictureOf(name(host))} />}
            </div>
          ))}
        </div>
      )}
      {state.hosts.flatMap(({ tracks }) =>
        tracks.map(
          ({ kind, trackId, track }) => kind === 'audio' && <Sound key={trackId} track={track} isMuted={isMuted} />,
        ),
      )}
      <p className="parley-stream-note" role="status">
        {note}
      </p>
      <p className="parley-stream-badges">
        {isLive && <strong className="parley-live">{texts.live}</strong>}
        {viewerCount !== null && !isEnded && (
          <span>
            <PeopleIcon />
            {texts.viewers(viewerCount)}
          </span>
        )}
      </p>
      {state.room.isAudioBlocked && !isEnded && (
        <button type="button" className="parley-button parley-start-sound" data-kind="primary" onClick={onStartAudio}>
          <SpeakerIcon />
          {texts.startSound}
        </button>
      )}
      {!isEnded && (
        <div className="parley-stream-tools">
          <IconButton label={isMuted ? texts.unmuteSound : texts.muteSound} onClick={() => setMuted(!isMuted)}>
            {isMuted ? <SpeakerOffIcon /> : <SpeakerIcon />}
          </IconButton>
          {children}
          <IconButton label={texts.fullScreen} onClick={() => void toggleFullScreen(frame.current)}>
            <FullscreenIcon />
          </IconButton>
        </div>
      )}
    </section>
  );
}

const picturesOf = ({ tracks }: ParticipantState): TrackState[] =>
  tracks.filter(({ kind, isMuted, track }) => kind === 'video' && !isMuted && track !== null);

function noteOf(
  { room, error }: LiveStreamState,
  status: StreamPlayerProps['status'],
  isEnded: boolean,
  pictures: number,
  texts: Texts,
  problem: string,
): string {
  if (isEnded) return texts.streamEnded;
  if (room.connection === 'reconnecting') return texts.reconnectingToStream;
  if (error) return problem;
  if (room.connection !== 'connected') return texts.connectingToStream;
  if (status === 'CREATED') return texts.streamNotStarted;
  return pictures === 0 ? texts.waitingForPicture : '';
}
