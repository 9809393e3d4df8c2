// What the records of synthetic groups are good for: a table of pupils in schools, real and synthetic.
#pragma once

namespace curator::bench {

// Prints what an analyst would ask of hsb82's schools, of the table itself and of populations by the method
// `nested`, with schools as the unit, whose sector and mean SES describe them, and without that.
void PrintRecords();

}  // namespace curator::bench
