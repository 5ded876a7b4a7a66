import { captureCamera, captureMicrophone, type Devices, type DevicesState, type ParleyError } from '@parley/client';
import { useStore } from '@parley/client/react';
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { useCapture } from '../hooks/use-capture.ts';
import { Avatar } from '../shared/avatar.tsx';
import { constantStore } from '../shared/constant-store.ts';
import { ProblemLine } from '../shared/problem-line.tsx';
import { useTexts } from '../texts.tsx';
import { chosenOf, DeviceSelect } from './device-menu.tsx';
import { Level } from './level.tsx';
import { PictureFrame } from './media.tsx';
import { MediaSwitch } from './media-switch.tsx';

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
  isMirrored?: boolean | undefined;
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
          <MediaSwitch
            kind="microphone"
            isOn={hasMicrophone}
            isDisabled={sources.microphone === null}
            onToggle={() => setMicrophone(!wantsMicrophone)}
          />
          <MediaSwitch
            kind="camera"
            isOn={hasCamera}
            isDisabled={sources.camera === null}
            onToggle={() => setCamera(!wantsCamera)}
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
        <DeviceProblem error={sound.problem} what={texts.microphone} />
        <DeviceProblem error={picture.problem} what={texts.camera} />
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

const noDevices = /* @__PURE__ */ constantStore(null);
const never: Capture = () => new Promise(() => {});

/** What to open, and when to open it again. */
function useSources(devices: Devices | undefined, given: PreJoinProps['capture']) {
  const state = useStore<DevicesState | null>(devices?.state ?? noDevices);
  if (given) return { ...given, cameraReason: given, microphoneReason: given };
  // Names of devices can be read once one was allowed.
  const opened = (track: MediaStreamTrack): MediaStreamTrack => {
    void devices?.refresh();
    return track;
  };
  const wanted = (kind: 'camera' | 'microphone') => {
    const deviceId = state?.chosen[kind] ? chosenOf(state, kind) : undefined;
    return deviceId ? { deviceId } : {};
  };
  return {
    camera: () => captureCamera(wanted('camera')).then(opened),
    microphone: () => captureMicrophone(wanted('microphone')).then(opened),
    cameraReason: state?.chosen.camera,
    microphoneReason: state?.chosen.microphone,
  };
}

interface PreviewProps {
  track: MediaStreamTrack | null;
  isOn: boolean;
  problem: ParleyError | null;
  name: string;
  isMirrored: boolean;
}

function Preview({ track, isOn, problem, name, isMirrored }: PreviewProps) {
  const texts = useTexts();
  const ref = useRef<HTMLVideoElement>(null);
  useEffect(() => {
    if (ref.current) ref.current.srcObject = track && new MediaStream([track]);
  }, [track]);
  if (track) return <PictureFrame frame={ref} label={texts.pictureOf(name || texts.you)} isMirrored={isMirrored} />;
  return (
    <div className="parley-tile-empty">
      <Avatar identity={name} name={name} />
      <span className="parley-prejoin-note">{isOn && problem === null ? texts.cameraStarting : texts.cameraIsOff}</span>
    </div>
  );
}

function DeviceProblem({ error, what }: { error: ParleyError | null; what: string }) {
  const { deviceProblem } = useTexts();
  return <ProblemLine error={error && (deviceProblem?.(error.code, what.toLowerCase()) ?? error)} />;
}
