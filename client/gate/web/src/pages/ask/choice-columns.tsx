// The columns of a table of prices: what each costs, whether it fits, and its choice.
import type { Choice } from "../../api/types.ts";
import { Button } from "../../components/Button.tsx";
import type { Column } from "../../components/Table.tsx";
import { firstCost } from "../../costs.ts";
import { compare } from "../../decimal.ts";
import { spendText } from "../../question.ts";

export const COST: Column<Choice> = {
  key: "cost",
  title: "Cost",
  right: true,
  compare: (a, b) => compare(a.costs[0]?.amount ?? "0", b.costs[0]?.amount ?? "0"),
  cell: (choice) => <span title={spendText(choice.spend)}>{firstCost(choice.costs)}</span>,
};

export const FITS: Column<Choice> = {
  key: "fits",
  title: "Fits",
  cell: (choice) => (choice.fits ? "yes" : <span class="state bad">no</span>),
};

// `labelOf`: of the button that chooses it.
export function choiceColumn(
  isChosen: (choice: Choice) => boolean,
  labelOf: (choice: Choice) => string,
  onChoose: (choice: Choice) => void,
): Column<Choice> {
  return {
    key: "actions",
    title: "Choice",
    cell: (choice) =>
      isChosen(choice) ? (
        <span class="chosen quiet">chosen</span>
      ) : (
        <Button kind="plain" label={labelOf(choice)} onClick={() => onChoose(choice)}>
          Choose
        </Button>
      ),
  };
}
