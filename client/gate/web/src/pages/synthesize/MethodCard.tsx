// The method that learns the model, of those that the server has, and its settings.
import { useEffect, useState } from "preact/hooks";
import type { Synthesizer } from "../../api/synthesis-types.ts";
import { Skeleton } from "../../components/Empty.tsx";
import { SelectField, TextField } from "../../components/Field.tsx";
import { Card } from "../../components/Page.tsx";
import type { Draft, Problems } from "../../synthesis.ts";
import { sentence } from "../../words.ts";

interface Props {
  methods: Synthesizer[];
  // Undefined until the list is there.
  method: Synthesizer | undefined;
  draft: Draft;
  problems: Problems;
  onDraft: (change: Partial<Draft>) => void;
}

function Summaries({ methods }: { methods: Synthesizer[] }) {
  return (
    <details>
      <summary>What each method does</summary>
      <dl class="facts wide after-summary">
        {methods.map(({ method, summary }) => (
          <div key={method}>
            <dt>{method}</dt>
            <dd>{sentence(summary)}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

interface SettingsProps {
  method: Synthesizer;
  typed: Record<string, string>;
  problems: Record<string, string>;
  onChange: (key: string, value: string) => void;
}

// Open when one of them is wrong, so that it is seen.
function Settings({ method, typed, problems, onChange }: SettingsProps) {
  const [isOpen, setOpen] = useState(false);
  const isWrong = Object.keys(problems).length > 0;
  useEffect(() => {
    if (isWrong) setOpen(true);
  }, [isWrong]);
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Settings of the method</summary>
      <div class="after-summary settings">
        {method.settings.map(({ key, summary, default_value: usual }) => (
          <TextField
            key={key}
            label={key}
            hint={
              <>
                {sentence(summary)} Default: {usual}.
              </>
            }
            problem={problems[key]}
            value={typed[key] ?? ""}
            onInput={(value) => onChange(key, value)}
          />
        ))}
      </div>
    </details>
  );
}

export function MethodCard({ methods, method, draft, problems, onDraft }: Props) {
  if (!method)
    return (
      <Card title="Method">
        <Skeleton height={6} />
      </Card>
    );
  const typed = draft.settings[method.method] ?? {};
  return (
    <Card title="Method">
      <SelectField
        label="How the model is learned"
        hint={sentence(method.summary)}
        problem={problems.method}
        value={method.method}
        options={methods.map((each) => ({ value: each.method, text: each.method }))}
        onChange={(value) => onDraft({ method: value })}
      />
      <Summaries methods={methods} />
      {method.settings.length > 0 && (
        <Settings
          key={method.method}
          method={method}
          typed={typed}
          problems={problems.settings}
          onChange={(key, value) =>
            onDraft({ settings: { ...draft.settings, [method.method]: { ...typed, [key]: value } } })
          }
        />
      )}
    </Card>
  );
}
