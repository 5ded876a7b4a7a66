import { captureCamera, captureMicrophone, type Devices, type DevicesState } from '@parley/client';
import { useStore } from '@parley/client/react';
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { useCapture } from '../hooks/use-capture.ts';
import { CameraIcon, CameraOffIcon, MicrophoneIcon, MicrophoneOffIcon } from '../icons.tsx';
import { Avatar } from '../shared/avatar.tsx';
import { ProblemLine } from '../shared/problem-line.tsx';
import { useTexts } from '../texts.tsx';
import { ControlButton } from './control-button.tsx';
import { chosenOf, DeviceSelect } from './device-menu.tsx';
import { Level } from './level.tsx';

export interface JoinChoices {
  name: string;
  hasMicrophone: boolean;
  hasCamera: boolean;
}

export interface PreJoinProps {
  /** Without them nothing can be chosen. */
  devices?: Devices | undefined;
  /** Above the form; the name of the room, for instance. */
  title?: string | undefined;
  initial?: Partial<JoinChoices>;
  onJoin: (choices: JoinChoices) => void;
  isJoining?: boolean;
  isMirrored?: boolean;
  /** Other sources than the devices, a test card for instance; null where there is none of the kind. */
  capture?: { camera: Capture | null; microphone: Capture | null } | undefined;
  /** Further fields of the form. */
  children?: ReactNode;
}

type Capture = () => Promise<MediaStreamTrack>;

/** Before a call: how one looks, whether one is heard, by which devices and under which name. */
export function PreJoin(props: PreJoinProps) {
  const { devices, title, initial = {}, onJoin, isJoining = false, isMirrored = true, children } = props;
  const texts = useTexts();
  const [name, setName] = useState(initial.name ?? '');
  const [wantsMicrophone, setMicrophone] = useState(initial.hasMicrophone ?? true);
  const [wantsCamera, setCamera] = useState(initial.hasCamera ?? true);
  const sources = useSources(devices, props.capture);
  const hasMicrophone = wantsMicrophone && sources.microphone !== null;
  const hasCamera = wantsCamera && sources.camera !== null;
  const sound = useCapture(hasMicrophone, sources.microphone ?? never, sources.microphoneReason);
  const picture = useCapture(hasCamera, sources.camera ?? never, sources.cameraReason);

  const join = (event: FormEvent): void => {
    event.preventDefault();
    onJoin({
      name: name.trim(),
      hasMicrophone: hasMicrophone && sound.problem === null,
      hasCamera: hasCamera && picture.problem === null,
    });
  };
  const level = hasMicrophone && <Level track={sound.track} />;
  return (
    <form className="parley parley-prejoin" onSubmit={join}>
      <div className="parley-prejoin-preview">
        <Preview track={picture.track} isOn={hasCamera} problem={picture.problem} name={name} isMirrored={isMirrored} />
        <div className="parley-prejoin-toggles">
          <ControlButton
            label={texts.microphone}
            hint={texts.microphone}
            icon={hasMicrophone ? <MicrophoneIcon /> : <MicrophoneOffIcon />}
            isPressed={hasMicrophone}
            kind="off"
            isDisabled={sources.microphone === null}
            onClick={() => setMicrophone(!wantsMicrophone)}
          />
          <ControlButton
            label={texts.camera}
            hint={texts.camera}
            icon={hasCamera ? <CameraIcon /> : <CameraOffIcon />}
            isPressed={hasCamera}
            kind="off"
            isDisabled={sources.camera === null}
            onClick={() => setCamera(!wantsCamera)}
          />
        </div>
      </div>
      <div className="parley-prejoin-form parley-stack">
        <h1>{title ?? texts.joinTitle}</h1>
        <label className="parley-field">
          {texts.yourName}
          <input
            className="parley-input"
            value={name}
            maxLength={64}
            required
            autoComplete="nickname"
            onChange={({ target }) => setName(target.value)}
          />
        </label>
        <DeviceProblem code={sound.problem} what={texts.microphone} />
        <DeviceProblem code={picture.problem} what={texts.camera} />
        {children}
        {devices && (
          <>
            <DeviceSelect devices={devices} kind="microphone" />
            {level}
            <DeviceSelect devices={devices} kind="speaker" />
            <DeviceSelect devices={devices} kind="camera" />
          </>
        )}
        {!devices && level}
        <button type="submit" className="parley-button" data-kind="primary" disabled={isJoining}>
          {isJoining ? texts.joining : texts.join}
        </button>
      </div>
    </form>
  );
}

const none: DevicesState = {
  microphones: [],
  cameras: [],
  speakers: [],
  hasLabels: false,
  chosen: { microphone: null, camera: null, speaker: null },
};
const noDevices = { getSnapshot: () => none, subscribe: () => () => {} };
const never: Capture = () => new Promise(() => {});

/** What to open, and when to open it again. */
function useSources(devices: Devices | undefined, given: PreJoinProps['capture']) {
  const state = useStore(devices?.state ?? noDevices);
  const chosen = { camera: state.chosen.camera, microphone: state.chosen.microphone };
  if (given) return { ...given, cameraReason: given, microphoneReason: given };
  // Names of devices can be read once one was allowed.
  const opened = (track: MediaStreamTrack): MediaStreamTrack => {
    void devices?.refresh();
    return track;
  };
  const wanted = (kind: 'camera' | 'microphone') => {
    const deviceId = chosen[kind] === null ? undefined : chosenOf(state, kind);
    return deviceId ? { deviceId } : {};
  };
  return {
    camera: () => captureCamera(wanted('camera')).then(opened),
    microphone: () => captureMicrophone(wanted('microphone')).then(opened),
    cameraReason: chosen.camera,
    microphoneReason: chosen.microphone,
  };
}

interface PreviewProps {
  track: MediaStreamTrack | null;
  isOn: boolean;
  problem: string | null;
  name: string;
  isMirrored: boolean;
}

function Preview({ track, isOn, problem, name, isMirrored }: PreviewProps) {
  const texts = useTexts();
  const ref = useRef<HTMLVideoElement>(null);
  useEffect(() => {
    if (ref.current) ref.current.srcObject = track && new MediaStream([track]);
  }, [track]);
  if (track)
    return (
      <video
        className="parley-picture"
        ref={ref}
        autoPlay
        playsInline
        muted
        aria-label={texts.pictureOf(name || texts.you)}
        data-mirrored={isMirrored || undefined}
      />
    );
  return (
    <div className="parley-tile-empty">
      <Avatar identity={name} name={name} />
      <span className="parley-prejoin-note">{isOn && problem === null ? texts.cameraStarting : texts.cameraIsOff}</span>
    </div>
  );
}

function DeviceProblem({ code, what }: { code: string | null; what: string }) {
  const texts = useTexts();
  return <ProblemLine error={code && texts.deviceProblem(code, what.toLowerCase())} />;
}
