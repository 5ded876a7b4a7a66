export type DeviceKind = 'microphone' | 'camera' | 'speaker';

export interface Device {
  /** Empty until permission is given. */
  deviceId: string;
  /** Devices in one housing share it: a headset's microphone and its speaker. */
  groupId: string;
  kind: DeviceKind;
  /** Never empty: `Camera 2` until permission is given. */
  label: string;
}

export interface DevicesState {
  microphones: readonly Device[];
  cameras: readonly Device[];
  speakers: readonly Device[];
  /** False: labels are numbers until `request()` got the permission. */
  hasLabels: boolean;
  /** Null: the browser's default. A choice whose device is not connected counts again when it is. */
  chosen: Readonly<Record<DeviceKind, string | null>>;
}

export const KINDS: readonly DeviceKind[] = ['microphone', 'camera', 'speaker'];

const NATIVE: Record<DeviceKind, [MediaDeviceKind, name: string]> = {
  microphone: ['audioinput', 'Microphone'],
  camera: ['videoinput', 'Camera'],
  speaker: ['audiooutput', 'Speaker'],
};

/** What the browser lists, by kind, with the choices that can be used. */
export function stateOf(
  found: readonly MediaDeviceInfo[],
  remembered: Partial<Record<DeviceKind, string>>,
): DevicesState {
  const [microphones = [], cameras = [], speakers = []] = KINDS.map((kind) => devicesOf(found, kind));
  const listed = { microphone: microphones, camera: cameras, speaker: speakers };
  const chosen = (kind: DeviceKind): string | null => {
    const ids = listed[kind].map(({ deviceId }) => deviceId);
    const wanted = remembered[kind] ?? null;
    // Without permission no id can be read, and so none be missed.
    return wanted === null || ids.includes(wanted) || !ids.some(Boolean) ? wanted : null;
  };
  const inputs = found.filter(({ kind }) => kind !== 'audiooutput');
  return {
    microphones,
    cameras,
    speakers,
    hasLabels: inputs.length > 0 && inputs.every(({ label }) => label),
    chosen: { microphone: chosen('microphone'), camera: chosen('camera'), speaker: chosen('speaker') },
  };
}

function devicesOf(found: readonly MediaDeviceInfo[], kind: DeviceKind): Device[] {
  const [native, name] = NATIVE[kind];
  return found
    .filter((device) => device.kind === native)
    .map(({ deviceId, groupId, label }, index) => ({
      deviceId,
      groupId,
      kind,
      label: label || `${name} ${index + 1}`,
    }));
}
