import type { LocalTrack, Room } from '@parley/client';
import { type ReactNode, useEffect, useEffectEvent, useState } from 'react';
import { isDialogOpen, isTyping } from '../../frame/key-press.ts';
import { preferences } from '../../frame/preferences.ts';
import { Button } from '../../kit/button.tsx';
import { CameraIcon, CameraOffIcon, MicIcon, MicOffIcon, ScreenIcon } from '../../kit/icons.tsx';
import { announce } from '../../kit/live.tsx';

type Switch = 'mic' | 'camera' | 'screen';
const letters: Readonly<Record<string, Switch>> = { m: 'mic', v: 'camera', s: 'screen' };

/** On or off; a device that was never asked for is asked for now. */
async function flip(room: Room, which: Switch): Promise<void> {
  const { self } = room;
  if (which === 'screen') return void (await self.setScreenShare(self.screenShare === null));
  const track = which === 'mic' ? self.microphone : self.camera;
  if (track) return track.isMuted ? track.unmute() : track.mute();
  await (which === 'mic' ? self.setMicrophone(true) : self.setCamera(true));
}

const isOn = (track: LocalTrack | null): boolean => track !== null && !track.isMuted;

export function Controls(props: {
  room: Room;
  onFailed: (error: unknown) => void;
  onLeave: () => void;
  children: ReactNode;
}) {
  const { room } = props;
  const [busy, setBusy] = useState<Switch | null>(null);
  const on = {
    mic: isOn(room.self.microphone),
    camera: isOn(room.self.camera),
    screen: room.self.screenShare !== null,
  };

  async function toggle(which: Switch): Promise<void> {
    setBusy(which);
    try {
      await flip(room, which);
      announce(`${words[which]} ${on[which] ? 'off' : 'on'}`);
    } catch (error) {
      // Closing the browser's own question is an answer, not a failure.
      if (!(error instanceof Error && 'code' in error && error.code === 'cancelled')) props.onFailed(error);
    } finally {
      setBusy(null);
    }
  }

  const press = useEffectEvent((which: Switch) => void toggle(which));
  useEffect(() => {
    function onKeyDown(event: KeyboardEvent): void {
      const which = letters[event.key];
      const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey && !event.repeat;
      if (!which || !isPlain || preferences().shortcuts === 'off' || isTyping(event.target) || isDialogOpen()) return;
      event.preventDefault();
      press(which);
    }
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, []);

  const button = (which: Switch, icon: ReactNode) => (
    <Button
      icon={icon}
      aria-pressed={on[which]}
      aria-keyshortcuts={which === 'mic' ? 'm' : which === 'camera' ? 'v' : 's'}
      isBusy={busy === which}
      onClick={() => void toggle(which)}
    >
      {words[which]}
    </Button>
  );
  return (
    <div className="call-controls" role="toolbar" aria-label="Call">
      {button('mic', on.mic ? <MicIcon /> : <MicOffIcon />)}
      {button('camera', on.camera ? <CameraIcon /> : <CameraOffIcon />)}
      {button('screen', <ScreenIcon />)}
      {props.children}
      <span className="spacer" />
      <Button variant="danger" onClick={props.onLeave}>
        Leave
      </Button>
    </div>
  );
}

const words: Readonly<Record<Switch, string>> = { mic: 'Microphone', camera: 'Camera', screen: 'Screen' };
