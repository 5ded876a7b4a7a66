import type { Room } from '@parley/client';
import { useStore } from '@parley/client/react';
import { type ReactNode, useEffect } from 'react';

interface ControlsProps {
  room: Room;
  onError: (error: unknown) => void;
  onLeave: () => void;
  children?: ReactNode;
}

/** Microphone, camera and screen, each a toggle button; `m`, `v` and `s` do the same. */
export function Controls({ room, onError, onLeave, children }: ControlsProps) {
  // Draws again when one of them is muted or gone.
  useStore(room.state);
  const { microphone, camera, screenShare } = room.self;
  const isOn = (track: { isMuted: boolean } | null): boolean => track !== null && !track.isMuted;
  const run = (work: Promise<unknown>): void => void work.catch(onError);
  const toggles = [
    ['m', 'Microphone', isOn(microphone), () => run(room.self.setMicrophone(!isOn(microphone)))],
    ['v', 'Camera', isOn(camera), () => run(room.self.setCamera(!isOn(camera)))],
    ['s', 'Share screen', screenShare !== null, () => run(room.self.setScreenShare(screenShare === null))],
  ] as const;

  useEffect(() => {
    const onKey = ({ key, target, ctrlKey, metaKey, altKey }: KeyboardEvent): void => {
      const isTyping = target instanceof HTMLElement && target.closest('input, textarea, select') !== null;
      if (isTyping || ctrlKey || metaKey || altKey) return;
      toggles.find(([letter]) => letter === key)?.[3]();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  });

  return (
    <div className="controls" role="toolbar" aria-label="Call controls">
      {toggles.map(([letter, label, pressed, toggle]) => (
        <button
          key={letter}
          type="button"
          className="button toggle"
          aria-pressed={pressed}
          aria-keyshortcuts={letter}
          onClick={toggle}
        >
          {label} {pressed ? 'on' : 'off'}
        </button>
      ))}
      {children}
      <button type="button" className="button button-danger" onClick={onLeave}>
        Leave
      </button>
    </div>
  );
}
