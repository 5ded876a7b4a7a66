import type { Source } from './use-source.ts';

const choices: readonly [Source, string, string][] = [
  ['camera', 'Camera and microphone', 'The browser asks for them.'],
  ['card', 'Test card and tone', 'For machines without a camera.'],
  ['none', 'Nothing', 'Watch and listen only.'],
];

export function SourcePicker({ source, onChange }: { source: Source; onChange: (source: Source) => void }) {
  return (
    <fieldset className="stack-small">
      <legend className="legend">What you send</legend>
      {choices.map(([value, label, hint]) => (
        <div className="checkbox" key={value}>
          <input
            type="radio"
            id={`source-${value}`}
            name="source"
            checked={source === value}
            onChange={() => onChange(value)}
          />
          <label htmlFor={`source-${value}`}>{label}</label>
          <span className="field-hint">{hint}</span>
        </div>
      ))}
    </fieldset>
  );
}
