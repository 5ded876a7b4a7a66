import type { Device, DeviceKind, Devices, DevicesState } from '@parley/client';
import { useDevices } from '../hooks/use-call.ts';
import { ChevronUpIcon } from '../icons.tsx';
import { Menu, type MenuGroup } from '../shared/menu.tsx';
import { type Texts, useTexts } from '../texts.tsx';

const LISTS: Record<DeviceKind, (state: DevicesState) => readonly Device[]> = {
  microphone: ({ microphones }) => microphones,
  camera: ({ cameras }) => cameras,
  speaker: ({ speakers }) => speakers,
};

export interface DeviceMenuProps {
  devices: Devices;
  /** One list under the other. */
  kinds: readonly [DeviceKind, ...DeviceKind[]];
  onError?: ((error: unknown) => void) | undefined;
}

/** A small button that lists devices; a choice is remembered and takes effect at once. */
export function DeviceMenu({ devices, kinds, onError }: DeviceMenuProps) {
  const texts = useTexts();
  const state = useDevices(devices);
  const choose = chooseOf(devices, onError);
  return (
    <Menu
      label={texts.chooseDevice(kinds.map((kind) => texts[kind]).join(', '))}
      className="parley-control-more"
      groups={kinds.map((kind) => deviceGroup(state, kind, texts, choose))}
    >
      <ChevronUpIcon />
    </Menu>
  );
}

const chooseOf =
  (devices: Devices, onError: DeviceMenuProps['onError']) =>
  (kind: DeviceKind, deviceId: string): void =>
    void devices.choose(kind, deviceId).catch((error) => onError?.(error));

function deviceGroup(
  state: DevicesState,
  kind: DeviceKind,
  texts: Texts,
  choose: (kind: DeviceKind, deviceId: string) => void,
): MenuGroup {
  const chosen = chosenOf(state, kind);
  const items = LISTS[kind](state).map(({ deviceId, label }) => ({
    label,
    isChosen: deviceId === chosen,
    onSelect: () => choose(kind, deviceId),
  }));
  return { label: texts[kind], items, empty: kind === 'speaker' ? texts.systemDefault : texts.noDevices };
}

/** The choice, or the first: the one that the browser takes by itself. */
export function chosenOf(state: DevicesState, kind: DeviceKind): string | undefined {
  const all = LISTS[kind](state);
  return (all.find(({ deviceId }) => deviceId === state.chosen[kind]) ?? all[0])?.deviceId;
}

/** The same choice as a field of a form. */
export function DeviceSelect({ devices, kind, onError }: Omit<DeviceMenuProps, 'kinds'> & { kind: DeviceKind }) {
  const texts = useTexts();
  const state = useDevices(devices);
  const choose = chooseOf(devices, onError);
  const all = LISTS[kind](state);
  const empty = kind === 'speaker' ? texts.systemDefault : texts.noDevices;
  return (
    <label className="parley-field">
      {texts[kind]}
      <select
        className="parley-input"
        value={chosenOf(state, kind) ?? ''}
        disabled={all.length === 0}
        onChange={({ target }) => choose(kind, target.value)}
      >
        {all.length === 0 && <option value="">{empty}</option>}
        {all.map(({ deviceId, label }) => (
          <option key={deviceId} value={deviceId}>
            {label}
          </option>
        ))}
      </select>
    </label>
  );
}
