/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CYCLOPS_TABLE_XML_H
#define CYCLOPS_TABLE_XML_H

#include "base/text.h"

/*
 * Appends words as character data or as the value of an attribute. What cannot be shown becomes \xNN,
 * as in text (utf8.h). U+FFFE and U+FFFF, which XML does not have, become U+FFFD.
 */
void xml_put(struct text *out, const char *words);

#endif
