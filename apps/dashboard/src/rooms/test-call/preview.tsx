import { useEffect, useRef, useState } from 'react';
import { type CallWord, t } from './texts.ts';

const constraints = (deviceId: string): MediaTrackConstraints | true =>
  deviceId === '' ? true : { deviceId: { exact: deviceId } };

/** The chosen camera, and the level of the microphone. Both are released with the preview. */
export function Preview({ cameraId, microphoneId }: { cameraId: string; microphoneId: string }) {
  const video = useRef<HTMLVideoElement>(null);
  const [stream, setStream] = useState<MediaStream | null>(null);
  const [problem, setProblem] = useState<string | null>(null);

  useEffect(() => {
    const controller = new AbortController();
    let opened: MediaStream | null = null;
    navigator.mediaDevices
      ?.getUserMedia({ video: constraints(cameraId), audio: constraints(microphoneId) })
      .then((media) => {
        opened = media;
        if (controller.signal.aborted) return stopAll(media);
        setProblem(null);
        setStream(media);
        if (video.current) video.current.srcObject = media;
      })
      .catch((error: DOMException) => setProblem(problemOf(error)));
    return () => {
      controller.abort();
      if (opened) stopAll(opened);
      setStream(null);
    };
  }, [cameraId, microphoneId]);

  return (
    <div className="stack-small">
      <video ref={video} className="call-preview" autoPlay muted playsInline aria-label={t('test-call.preview')} />
      {stream && <Level stream={stream} />}
      {problem && (
        <p className="field-error" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}

const problems: Readonly<Record<string, CallWord>> = {
  NotAllowedError: 'test-call.blocked',
  NotFoundError: 'test-call.notFound',
  NotReadableError: 'test-call.inUse',
};

function problemOf({ name, message }: DOMException): string {
  const known = problems[name];
  return known === undefined ? message : t(known);
}

const stopAll = (stream: MediaStream): void => {
  for (const track of stream.getTracks()) track.stop();
};

/** A bar that follows the microphone, ten times a second. */
function Level({ stream }: { stream: MediaStream }) {
  const [level, setLevel] = useState(0);
  useEffect(() => {
    const context = new AudioContext();
    const analyser = context.createAnalyser();
    context.createMediaStreamSource(stream).connect(analyser);
    const samples = new Float32Array(analyser.fftSize);
    const timer = setInterval(() => {
      analyser.getFloatTimeDomainData(samples);
      setLevel(Math.min(1, Math.hypot(...samples) / Math.sqrt(samples.length) / 0.2));
    }, 100);
    return () => {
      clearInterval(timer);
      void context.close();
    };
  }, [stream]);
  return <meter className="call-level" min={0} max={1} value={level} aria-label={t('test-call.level')} />;
}
