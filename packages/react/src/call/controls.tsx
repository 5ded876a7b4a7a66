import type { Devices, ParticipantState, Room } from '@parley/client';
import { type KeyboardEvent, type ReactNode, useEffect } from 'react';
import { useParticipant } from '../hooks/use-call.ts';
import { useLatest } from '../hooks/use-latest.ts';
import type { Reactions } from '../hooks/use-reactions.ts';
import { useSize } from '../hooks/use-size.ts';
import { HandIcon, LeaveIcon, ScreenIcon, ScreenOffIcon } from '../icons.tsx';
import { useTexts } from '../texts.tsx';
import { ControlButton } from './control-button.tsx';
import { MediaSwitch } from './media-switch.tsx';
import { MoreMenu, type MoreMenuProps } from './more-menu.tsx';
import { ReactionMenu } from './reaction-menu.tsx';
import { cameraOf, isOn, microphoneOf, screenOf } from './tracks.ts';

export interface ControlsProps extends MoreMenuProps {
  room: Room;
  /** Without them the buttons have no lists of devices. */
  devices?: Devices | undefined;
  /** Without them there is neither a hand nor a reaction: `useReactions(room)`. */
  reactions?: Reactions | undefined;
  /** False: `m`, `v`, `s` and `h` are the application's. Default true. */
  hasShortcuts?: boolean | undefined;
  onLeave: () => void;
  onError?: ((error: unknown) => void) | undefined;
  /** At the start of the bar: a title. */
  start?: ReactNode;
  /** At its end: switches of panels. */
  end?: ReactNode;
  /** Further buttons beside the others. */
  children?: ReactNode;
}

/** Below this width what is used less is in the menu. */
const NARROW = 720;
/** Below this one the lists of devices are in the settings. */
const PHONE = 480;

/** The bar of a call. `m`, `v`, `s` and `h` do what the first four buttons do. */
export function Controls(props: ControlsProps) {
  const { room, devices, reactions, hasShortcuts = true, onLeave, onError, start, end, children, ...more } = props;
  const texts = useTexts();
  const [ref, size] = useSize<HTMLDivElement>();
  const self = useParticipant(room);
  const width = size?.width ?? NARROW;
  const toggles = useToggles(room, self, reactions, onError);
  useShortcuts(hasShortcuts && { m: toggles.microphone, v: toggles.camera, s: toggles.screen, h: toggles.hand });
  const shortcut = (key: string): string | undefined => (hasShortcuts ? key : undefined);
  const { publish = true, publishAudio, publishVideo, publishData = true } = self?.permissions ?? {};
  // Where neither kind is named, both may be published.
  const isOpen = publishAudio === publishVideo;
  const maySpeak = publish && (isOpen || publishAudio);
  const mayShow = publish && (isOpen || publishVideo);
  const isSharing = self !== null && screenOf(self) !== null;
  const isRaised = self !== null && (reactions?.hands.has(self.identity) ?? false);
  const shared = { isDisabled: self === null };
  const media = { ...shared, devices: width >= PHONE ? devices : undefined, onError };
  const isSmall = width < NARROW;

  return (
    <div className="parley parley-dark parley-controls" ref={ref} data-narrow={isSmall || undefined}>
      <div className="parley-controls-side">{start}</div>
      <div className="parley-controls-bar" role="toolbar" aria-label={texts.controls} onKeyDown={moveFocus}>
        {maySpeak && (
          <MediaSwitch
            {...media}
            kind="microphone"
            shortcut={shortcut('m')}
            isOn={isOn(self && microphoneOf(self))}
            onToggle={toggles.microphone}
          />
        )}
        {mayShow && (
          <MediaSwitch
            {...media}
            kind="camera"
            shortcut={shortcut('v')}
            isOn={isOn(self && cameraOf(self))}
            onToggle={toggles.camera}
          />
        )}
        {mayShow && width >= PHONE && (
          <ControlButton
            {...shared}
            label={texts.shareScreen}
            hint={isSharing ? texts.stopShare : texts.shareScreen}
            icon={isSharing ? <ScreenOffIcon /> : <ScreenIcon />}
            isPressed={isSharing}
            shortcut={shortcut('s')}
            onClick={toggles.screen}
          />
        )}
        {reactions && publishData && (
          <>
            <ControlButton
              {...shared}
              label={texts.raiseHand}
              hint={isRaised ? texts.lowerHand : texts.raiseHand}
              icon={<HandIcon />}
              isPressed={isRaised}
              shortcut={shortcut('h')}
              onClick={toggles.hand}
            />
            <ReactionMenu onReact={reactions.react} />
          </>
        )}
        {!isSmall && children}
        <MoreMenu {...more} {...(mayShow && width < PHONE ? { onShare: toggles.screen } : {})} />
        <ControlButton label={texts.leave} hint={texts.leave} icon={<LeaveIcon />} kind="danger" onClick={onLeave} />
      </div>
      <div className="parley-controls-side" data-end="">
        {isSmall && children}
        {end}
      </div>
    </div>
  );
}

function useToggles(
  room: Room,
  self: ParticipantState | null,
  reactions: Reactions | undefined,
  onError: ((error: unknown) => void) | undefined,
) {
  const run = (work: Promise<unknown>): void => void work.catch((error) => onError?.(error));
  const whenIn = (act: (participant: ParticipantState) => void) => () => {
    if (self) act(self);
  };
  return {
    microphone: whenIn((me) => run(room.self.setMicrophone(!isOn(microphoneOf(me))))),
    camera: whenIn((me) => run(room.self.setCamera(!isOn(cameraOf(me))))),
    screen: whenIn((me) => run(room.self.setScreenShare(screenOf(me) === null))),
    hand: whenIn((me) => reactions?.raiseHand(!reactions.hands.has(me.identity))),
  };
}

/** Single letters, except where somebody types. */
function useShortcuts(actions: Readonly<Record<string, () => void>> | false): void {
  const now = useLatest(actions);
  useEffect(() => {
    const onKey = (event: globalThis.KeyboardEvent): void => {
      const { key, ctrlKey, metaKey, altKey } = event;
      // The event's own target is the element around a web component's field.
      const [target] = event.composedPath();
      const isTyping =
        target instanceof Element && target.closest('input, textarea, select, dialog, [contenteditable]') !== null;
      if (now.current && !isTyping && !ctrlKey && !metaKey && !altKey && !event.repeat) now.current[key]?.();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}

/** Arrow keys walk along the bar. */
function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const isRightToLeft = getComputedStyle(event.currentTarget).direction === 'rtl';
  const step = { ArrowRight: isRightToLeft ? -1 : 1, ArrowLeft: isRightToLeft ? 1 : -1 }[event.key];
  const isInMenu = event.target instanceof HTMLElement && event.target.closest('[role="menu"]') !== null;
  if (step === undefined || isInMenu) return;
  const buttons = [...event.currentTarget.querySelectorAll<HTMLElement>('button:not(:disabled)')];
  const at = buttons.findIndex((one) => one.matches(':focus'));
  buttons[(at + step + buttons.length) % buttons.length]?.focus();
}
