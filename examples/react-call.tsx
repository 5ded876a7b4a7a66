import { createDevices, Room } from '@parley/client';
import { Call, ParleyTexts } from '@parley/react';
import '@parley/react/styles.css';

const devices = createDevices();
const room = new Room({
  url: 'https://rtc.example.com',
  token: () => fetch('/api/token').then((answer) => answer.text()),
  devices,
});

export const Meeting = () => <Call room={room} devices={devices} title="Weekly planning" />;

/** Those that are left out stay English. */
const german = { microphone: 'Mikrofon', camera: 'Kamera', leave: 'Anruf verlassen', muted: 'Stumm' };

export const Besprechung = () => (
  <ParleyTexts value={german}>
    <Call room={room} devices={devices} title="Wochenplanung" />
  </ParleyTexts>
);
