import { useEffect, useState } from 'react';
import { t } from './texts.ts';

interface Devices {
  cameras: readonly MediaDeviceInfo[];
  microphones: readonly MediaDeviceInfo[];
  error: string | null;
}

const none: Devices = { cameras: [], microphones: [], error: null };

/** The devices of this machine, again when one is plugged in. Their names are known once the browser allowed one. */
export function useDevices(isOn: boolean): Devices {
  const [devices, setDevices] = useState(none);
  useEffect(() => {
    if (!isOn) return;
    const media = navigator.mediaDevices;
    if (!media) {
      setDevices({ ...none, error: t('test-call.needsHttps') });
      return;
    }
    let isCurrent = true;
    const look = async (): Promise<void> => {
      const found = await media.enumerateDevices().catch(() => []);
      if (!isCurrent) return;
      const of = (kind: MediaDeviceKind) => found.filter((device) => device.kind === kind);
      const [cameras, microphones] = [of('videoinput'), of('audioinput')];
      setDevices({ cameras, microphones, error: cameras.length === 0 ? t('test-call.noCamera') : null });
    };
    void look();
    media.addEventListener('devicechange', look);
    return () => {
      isCurrent = false;
      media.removeEventListener('devicechange', look);
    };
  }, [isOn]);
  return devices;
}
