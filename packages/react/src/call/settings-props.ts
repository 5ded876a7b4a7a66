import type { Devices, Room } from '@parley/client';

export interface SettingsProps {
  room: Room;
  devices?: Devices | undefined;
  isSelfMirrored: boolean;
  onMirror: (isMirrored: boolean) => void;
  /** Names of what the application can put behind people; the choice is applied by it. */
  backgrounds?: readonly string[] | undefined;
  background?: string | null | undefined;
  onBackground?: ((name: string | null) => void) | undefined;
  onError?: ((error: unknown) => void) | undefined;
  onClose: () => void;
}
