import type { Device, DeviceKind, Devices, DevicesState } from '@parley/client';
import { useDevices } from '../hooks/use-call.ts';
import { ChevronUpIcon } from '../icons.tsx';
import { Menu, type MenuGroup } from '../shared/menu.tsx';
import { Select } from '../shared/select.tsx';
import { type Texts, useTexts } from '../texts.tsx';

const listOf = (state: DevicesState, kind: DeviceKind): readonly Device[] => state[`${kind}s`];

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
  const items = listOf(state, kind).map(({ deviceId, label }) => ({
    label,
    isChosen: deviceId === chosen,
    onSelect: () => choose(kind, deviceId),
  }));
  return { label: texts[kind], items, empty: emptyOf(kind, texts) };
}

/** The choice, or the first: the one that the browser takes by itself. */
export function chosenOf(state: DevicesState, kind: DeviceKind): string | undefined {
  const all = listOf(state, kind);
  return (all.find(({ deviceId }) => deviceId === state.chosen[kind]) ?? all[0])?.deviceId;
}

const emptyOf = (kind: DeviceKind, texts: Texts): string => texts[kind === 'speaker' ? 'systemDefault' : 'noDevices'];

/** The same choice as a field of a form. */
export function DeviceSelect({ devices, kind, onError }: Omit<DeviceMenuProps, 'kinds'> & { kind: DeviceKind }) {
  const texts = useTexts();
  const state = useDevices(devices);
  const options = listOf(state, kind).map(({ deviceId, label }) => ({ value: deviceId, label }));
  return (
    <Select
      label={texts[kind]}
      value={chosenOf(state, kind) ?? ''}
      isDisabled={options.length === 0}
      options={options.length === 0 ? [{ value: '', label: emptyOf(kind, texts) }] : options}
      onChange={(deviceId) => chooseOf(devices, onError)(kind, deviceId)}
    />
  );
}
