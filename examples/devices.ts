import { captureCamera, captureMicrophone, createDevices, createLevelMeter, Room } from '@parley/client';

const devices = createDevices();
const tell = (error: Error) => document.querySelector('#messages')!.append(error.message);

// Before the call: permission, a picture of oneself, the level of the microphone.
await devices.request().catch(tell); // a sentence for the user; `code` is for you
const { chosen } = devices.state.getSnapshot();
const camera = await captureCamera({ preferredDeviceId: chosen.camera });
const preview = document.createElement('video');
Object.assign(preview, { autoplay: true, muted: true, srcObject: new MediaStream([camera]) });
const microphone = await captureMicrophone({ preferredDeviceId: chosen.microphone });
const meter = createLevelMeter(microphone);
const bar = document.createElement('meter');
meter.level.subscribe(() => {
  bar.value = meter.level.getSnapshot();
});

// A menu of cameras that follows what is plugged in. The choice is remembered.
const menu = document.createElement('select');
const draw = () => {
  const { cameras, chosen: now } = devices.state.getSnapshot();
  menu.replaceChildren(
    ...cameras.map(({ label, deviceId }) => new Option(label, deviceId, false, deviceId === now.camera)),
  );
};
draw();
devices.state.subscribe(draw);
menu.onchange = () => devices.choose('camera', menu.value).catch(tell);
document.querySelector('#stage')!.append(preview, bar, menu);

// In the call: the room uses what was chosen, and follows the menu.
const room = new Room({ url: location.origin, token: () => fetch('/api/room-token').then((r) => r.text()), devices });
await room.connect();
for (const track of [camera, microphone]) track.stop();
meter.stop();
(await room.self.setCamera(true))?.attach(preview);
await room.self.setMicrophone(true, { noiseSuppression: true, echoCancellation: true });
