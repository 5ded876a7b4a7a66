import type { ParticipantState, TrackState } from '@parley/client';
import { memo } from 'react';
import { HandIcon, MicrophoneOffIcon, PauseIcon, PinIcon } from '../icons.tsx';
import { Avatar } from '../shared/avatar.tsx';
import { useTexts } from '../texts.tsx';
import { Picture } from './media.tsx';
import { QualityBars } from './quality-bars.tsx';
import { cameraOf, isOn, isShown, microphoneOf, screenOf } from './tracks.ts';

export interface TileProps {
  participant: ParticipantState;
  /** The person, or what they show of their screen. */
  of?: 'camera' | 'screen';
  /** Instead of the one in their metadata. */
  name?: string;
  isMirrored?: boolean;
  isPinned?: boolean;
  /** Without it there is no button to pin. */
  onPin?: () => void;
  isHandRaised?: boolean;
  reaction?: string | null;
}

/** One participant: picture or initials, name, and in words what a picture cannot say. */
export const Tile = /* @__PURE__ */ memo(function Tile({ participant, of = 'camera', ...props }: TileProps) {
  const texts = useTexts();
  const { identity, isLocal, isSpeaking } = participant;
  const isScreen = of === 'screen';
  const track = isScreen ? screenOf(participant) : cameraOf(participant);
  const plain = props.name ?? (participant.name || texts.you);
  const name = isScreen ? texts.screenOf(plain) : plain;
  return (
    <div
      className="parley parley-dark parley-tile"
      data-identity={identity}
      data-of={of}
      data-speaking={(isSpeaking && !isScreen) || undefined}
    >
      <Content track={track} participant={participant} name={plain} isScreen={isScreen} isMirrored={props.isMirrored} />
      {props.reaction && (
        <span className="parley-tile-reaction" key={props.reaction} aria-hidden="true">
          {props.reaction}
        </span>
      )}
      {props.isHandRaised && !isScreen && (
        <span className="parley-tile-hand">
          <HandIcon />
          <span>{texts.handRaised}</span>
        </span>
      )}
      <p className="parley-tile-caption">
        {!isScreen && <Microphone participant={participant} />}
        <span className="parley-tile-name" title={name}>
          {isLocal && !isScreen ? texts.nameOfSelf(plain) : name}
        </span>
        {!isScreen && participant.quality && <QualityBars quality={participant.quality} />}
      </p>
      {props.onPin && <PinButton name={name} isPinned={props.isPinned ?? false} onPin={props.onPin} />}
    </div>
  );
});

interface ContentProps {
  track: TrackState | null;
  participant: ParticipantState;
  name: string;
  isScreen: boolean;
  isMirrored?: boolean | undefined;
}

function Content({ track, participant, name, isScreen, isMirrored = false }: ContentProps) {
  const texts = useTexts();
  if (!track?.track || !isShown(track))
    return (
      <div className="parley-tile-empty">
        <Avatar identity={participant.identity} name={name} />
        <span className="parley-hidden">{texts.noPicture(name)}</span>
      </div>
    );
  const isPaused = track.streamState === 'paused' && track.pauseReason === 'bandwidth';
  return (
    <>
      <Picture
        key={track.trackId}
        track={track.track}
        label={isScreen ? texts.screenOf(name) : texts.pictureOf(name)}
        isMirrored={isMirrored && participant.isLocal && !isScreen}
      />
      {isPaused && (
        <span className="parley-tile-paused">
          <PauseIcon />
          {texts.pausedForBandwidth}
        </span>
      )}
    </>
  );
}

function Microphone({ participant }: { participant: ParticipantState }) {
  const texts = useTexts();
  const track = microphoneOf(participant);
  const text = track?.isMutedByServer ? texts.mutedByServer : texts.muted;
  if (!isOn(track))
    return (
      <span className="parley-tile-muted" title={text}>
        <MicrophoneOffIcon />
        <span className="parley-hidden">{text}</span>
      </span>
    );
  return <Voice participant={participant} />;
}

/** Three bars that move with the voice, while there is one. */
function Voice({ participant: { isSpeaking, audioLevel } }: { participant: ParticipantState }) {
  const texts = useTexts();
  const level = Math.min(1, audioLevel * 4);
  return (
    <span className="parley-voice" data-speaking={isSpeaking || undefined} data-level={level.toFixed(2)}>
      {isSpeaking &&
        [0.7, 1, 0.6].map((share) => (
          <span key={share} style={{ height: `${Math.round(Math.max(0.22, level * share) * 100)}%` }} />
        ))}
      <span className="parley-hidden">{isSpeaking ? texts.speaking : texts.microphoneOn}</span>
    </span>
  );
}

function PinButton({ name, isPinned, onPin }: { name: string; isPinned: boolean; onPin: () => void }) {
  const texts = useTexts();
  const label = isPinned ? texts.unpin(name) : texts.pin(name);
  return (
    <button
      type="button"
      className="parley-tile-pin"
      data-pinned={isPinned || undefined}
      aria-label={label}
      title={label}
      onClick={onPin}
    >
      <PinIcon />
    </button>
  );
}
