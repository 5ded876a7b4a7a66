import type { DeviceKind } from './devices/device-list.ts';
import type { Devices } from './devices/devices.ts';
import { captureError } from './media/capture.ts';
import type { LocalParticipant } from './media/local-participant.ts';

/** What the parts of a call know of the devices that the application chose. */
export interface CallDevices {
  chosen(kind: DeviceKind): string | null;
  captured(): void;
  /** Sound of others is played here. */
  attached(element: HTMLMediaElement): void;
  detached(element: HTMLMediaElement): void;
  /** Follows the choices while there is a call. */
  watch(isInCall: boolean): void;
}

/** Elements of older browsers cannot be sent to a speaker: theirs is the system's. */
const play = async (element: Partial<HTMLMediaElement>, deviceId: string): Promise<void> =>
  element.setSinkId?.(deviceId);

export function createCallDevices(devices: Devices | undefined, self: () => LocalParticipant): CallDevices {
  const elements = new Set<HTMLMediaElement>();
  let unwatch: (() => void) | null = null;
  const chosen = (kind: DeviceKind): string | null => devices?.state.getSnapshot().chosen[kind] ?? null;
  let speaker = chosen('speaker');

  async function switchSpeaker(deviceId: string): Promise<void> {
    try {
      await Promise.all([...elements].map((element) => play(element, deviceId)));
    } catch (cause) {
      throw await captureError('speaker', cause);
    }
  }

  async function switchTo(kind: DeviceKind, deviceId: string): Promise<void> {
    if (kind === 'speaker') return switchSpeaker(deviceId);
    const track = self()[kind];
    if (track?.canSetDevice && track.deviceId !== deviceId) await track.setDevice(deviceId);
  }

  /** A speaker that was unplugged, or came back. */
  function follow(): void {
    if (speaker === chosen('speaker')) return;
    speaker = chosen('speaker');
    switchSpeaker(speaker ?? '').catch(() => {});
  }

  return {
    chosen,
    captured: () => void devices?.refresh(),
    attached(element) {
      elements.add(element);
      if (chosen('speaker')) play(element, chosen('speaker') ?? '').catch(() => {});
    },
    detached: (element) => void elements.delete(element),
    watch(isInCall) {
      if (!devices || isInCall === (unwatch !== null)) return;
      unwatch?.();
      const ends = isInCall && [devices.onChoose(switchTo), devices.state.subscribe(follow)];
      unwatch = ends ? () => ends.forEach((end) => void end()) : null;
    },
  };
}
