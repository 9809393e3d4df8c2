// A control with its label, a hint, and what is wrong with it.
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

interface FieldProps {
  label: string;
  hint?: ComponentChildren;
  problem?: string | undefined;
}

interface Described {
  id: string;
  "aria-describedby": string | undefined;
  "aria-invalid": "true" | undefined;
}

export function Field({
  label,
  hint,
  problem,
  children,
}: FieldProps & { children: (control: Described) => ComponentChildren }) {
  const id = useId();
  const described = [hint ? `${id}-hint` : "", problem ? `${id}-problem` : ""].filter(Boolean).join(" ");
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({
        id,
        "aria-describedby": described || undefined,
        "aria-invalid": problem ? "true" : undefined,
      })}
      {hint && (
        <div class="hint" id={`${id}-hint`}>
          {hint}
        </div>
      )}
      {problem && (
        <div class="problem" id={`${id}-problem`} role="alert">
          {problem}
        </div>
      )}
    </div>
  );
}

interface TextProps extends FieldProps {
  value: string;
  onInput: (value: string) => void;
  type?: "text" | "password" | "search" | "number" | "datetime-local";
  autocomplete?: "off" | "username";
  autofocus?: boolean;
  mono?: boolean;
}

export function TextField({ value, onInput, type = "text", mono, autofocus, ...rest }: TextProps) {
  const { autocomplete = "off", ...field } = rest;
  return (
    <Field {...field}>
      {(control) => (
        <input
          {...control}
          type={type as "text"}
          value={value}
          class={mono ? "mono" : undefined}
          autocomplete={autocomplete}
          autoFocus={autofocus ?? false}
          spellcheck={false}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

interface SelectProps extends FieldProps {
  value: string;
  options: { value: string; text: string }[];
  onChange: (value: string) => void;
}

export function SelectField({ value, options, onChange, ...field }: SelectProps) {
  return (
    <Field {...field}>
      {(control) => (
        <select {...control} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
          {options.map((option) => (
            <option key={option.value} value={option.value} selected={option.value === value}>
              {option.text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

interface GroupProps {
  label: string;
  // In a few words, behind the label.
  remark?: string;
  problem?: string | undefined;
  children: ComponentChildren;
}

// Controls that belong together.
export function FieldGroup({ label, remark, problem, children }: GroupProps) {
  const id = useId();
  return (
    <fieldset class="field" aria-describedby={problem ? id : undefined}>
      <legend class="small">
        <strong>{label}</strong>
        {remark && <span class="quiet"> {remark}</span>}
      </legend>
      {children}
      {problem && (
        <div class="problem" id={id} role="alert">
          {problem}
        </div>
      )}
    </fieldset>
  );
}

interface CheckProps {
  label: string;
  // In a few words, behind the label.
  remark?: string;
  checked: boolean;
  onToggle: () => void;
}

// One that may be chosen beside others.
export function Check({ label, remark, checked, onToggle }: CheckProps) {
  return (
    <label class="choice">
      <input type="checkbox" checked={checked} onChange={onToggle} />
      <span>
        {label}
        {remark && <span class="quiet small"> {remark}</span>}
      </span>
    </label>
  );
}

interface ChoiceProps {
  label: string;
  name: string;
  value: string;
  options: { value: string; text: string }[];
  problem?: string | undefined;
  onChange: (value: string) => void;
}

// One of a few, all visible.
export function ChoiceField({ label, name, value, options, problem, onChange }: ChoiceProps) {
  return (
    <FieldGroup label={label} problem={problem}>
      <div class="choices">
        {options.map((option) => (
          <label class="choice" key={option.value}>
            <input
              type="radio"
              name={name}
              value={option.value}
              checked={option.value === value}
              onChange={() => onChange(option.value)}
            />
            {option.text}
          </label>
        ))}
      </div>
    </FieldGroup>
  );
}
