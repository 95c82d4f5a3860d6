"""SINGA's image tools and batches of images: values by hand."""

import random
import sys
import threading

import numpy as np
import pytest
from PIL import Image

from torchlike.singa import data, image_tool


def ramp(width=8, height=4):
    """An image whose red is the column, green the row, and blue 100."""
    x = np.empty((height, width, 3), np.uint8)
    x[..., 0], x[..., 1], x[..., 2] = np.arange(width), np.arange(height)[:, None], 100
    return Image.fromarray(x)


def corner(img):
    """The column and the row of the original that an image begins with."""
    return img.getpixel((0, 0))[:2]


def sizes(imgs):
    return [img.size for img in imgs]


class TestImageTool:
    def test_load(self, tmp_path):
        path = str(tmp_path / "a.png")
        ramp().save(path)
        assert image_tool.load_img(path).mode == "RGB"
        tool = image_tool.ImageTool().load(path, grayscale=True)
        assert tool.get()[0].mode == "L" and tool.get()[0].size == (8, 4)

    @pytest.mark.parametrize(
        ("position", "start"),
        [
            ("left_top", (0, 0)),
            ("left_bottom", (0, 2)),
            ("right_top", (5, 0)),
            ("right_bottom", (5, 2)),
            ("center", (2, 1)),
        ],
    )
    def test_crop(self, position, start):
        patch = image_tool.crop(ramp(), (3, 2), position)
        assert patch.size == (3, 2) and corner(patch) == start

    def test_crop_errors(self):
        with pytest.raises(ValueError, match="larger than an image"):
            image_tool.crop(ramp(), (9, 1), "center")
        with pytest.raises(ValueError, match="position is one of"):
            image_tool.crop(ramp(), (1, 1), "top")

    @pytest.mark.parametrize(("position", "column"), [("left", 0), ("center", 2), ("right", 4)])
    def test_crop_and_resize(self, position, column):
        assert corner(image_tool.crop_and_resize(ramp(), (4, 4), position)) == (column, 0)
        assert image_tool.crop_and_resize(ramp(), (2, 2), position).size == (2, 2)

    @pytest.mark.parametrize(("position", "row"), [("top", 0), ("middle", 2), ("bottom", 4)])
    def test_crop_and_resize_high(self, position, row):
        assert corner(image_tool.crop_and_resize(ramp(4, 8), (4, 4), position)) == (0, row)

    def test_resize(self):
        assert image_tool.resize(ramp(8, 4), 6).size == (12, 6)
        assert image_tool.scale(ramp(4, 8), 6).size == (6, 12)
        assert image_tool.resize_by_hw(ramp(), (5, 7)).size == (7, 5)

    def test_flips(self):
        assert corner(image_tool.flip(ramp())) == (7, 0)
        assert corner(image_tool.flip_down(ramp())) == (0, 3)

    def test_color_cast(self):
        random.seed(0)
        bases = [Image.new("RGB", (1, 1), (5, 100, 250)) for _ in range(200)]
        pixels = np.array([image_tool.color_cast(img, 20).getpixel((0, 0)) for img in bases])
        assert pixels.min(0).tolist() == [0, 80, 230] and pixels.max(0).tolist() == [25, 120, 255]
        assert (pixels[:, 1] == 100).sum() > 60  # every second one stays

    def test_enhance(self):
        random.seed(1)
        assert any(image_tool.enhance(ramp(), 0.9) != ramp() for _ in range(9))
        assert image_tool.enhance(ramp(), 0.0) == ramp()

    def test_list_sample(self):
        found = image_tool.get_list_sample("abcdef", 3)
        assert len(found) == 3 and found == sorted(found)

    def test_by_lists(self):
        tool = image_tool.ImageTool().set([ramp()])
        assert sizes(tool.resize_by_list([2, 6], 2, inplace=False)) == [(4, 2), (12, 6)]
        assert sizes(tool.scale_by_list([6], inplace=False)) == [(12, 6)]
        assert sizes(tool.resize_by_hw_list([(1, 2), (3, 4)], 2, False)) == [(2, 1), (4, 3)]
        assert corner(tool.rotate_by_list([180], inplace=False)[0]) == (7, 3)
        assert sizes(tool.get()) == [(8, 4)]
        with pytest.raises(ValueError, match="num_case is from 1 to 2, not 3"):
            tool.resize_by_list([1, 2], 3)

    def test_by_ranges(self):
        tool = image_tool.ImageTool().set([ramp()])
        assert tool.resize_by_range((6, 8), inplace=False)[0].size in ((12, 6), (14, 7))
        assert tool.resize_by_hw_range(((1, 3), (5, 7)), False)[0].size in ((5, 1), (6, 2))
        assert tool.rotate_by_range((180, 181), False)[0].getpixel((0, 0))[0] == 7
        assert tool.scale_by_range((6, 7)).get()[0].size == (12, 6)
        with pytest.raises(ValueError, match="form no pairs"):
            tool.resize_by_hw_range(((1, 3), (5, 6)))

    def test_crops_of_several_images(self):
        tool = image_tool.ImageTool().set([ramp(), ramp(4, 8)])
        assert sizes(tool.crop5((2, 3), 5, False)) == [(2, 3)] * 10
        assert sizes(tool.crop5((2, 3), 2, False)) == [(2, 3)] * 4
        starts = [corner(img) for img in tool.crop3((4, 4), 3, False)]
        assert starts == [(0, 0), (2, 0), (4, 0), (0, 0), (0, 2), (0, 4)]
        assert len(tool.crop8((4, 4), 8, False)) == 16 and len(tool.crop8((4, 4), 3, False)) == 6
        with pytest.raises(ValueError, match="squares"):
            tool.crop3((4, 3))

    def test_random_crops(self):
        random.seed(0)
        tool = image_tool.ImageTool().set([ramp(20, 20)])
        starts = {corner(tool.random_crop((18, 19), False)[0]) for _ in range(60)}
        assert starts == {(x, y) for x in range(3) for y in range(2)}
        assert sizes(tool.random_crop_resize((5, 6), False)) == [(5, 6)]
        with pytest.raises(ValueError, match="larger"):
            tool.random_crop((21, 1))

    def test_chain(self):
        tool = image_tool.ImageTool().append(ramp())
        assert tool.flip(2).flip_down(2).color_cast(0).enhance(0.0) is tool
        assert [corner(i) for i in tool.get()] == [(7, 3), (7, 0), (0, 3), (0, 0)]
        assert tool.num_augmentation() == 4
        with pytest.raises(ValueError, match="offset"):
            tool.color_cast(256)

    def test_without_pillow(self, monkeypatch):
        for name in [n for n in sys.modules if n.split(".")[0] == "PIL"] + ["PIL"]:
            monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(ImportError, match="pip install Pillow"):
            image_tool.load_img("a.png")


class TestImageBatchIter:
    def batches(self, tmp_path, lines, transform=None, **options):
        for i in range(3):
            Image.new("RGB", (2, 1), (i, 10, 20)).save(tmp_path / f"{i}.png")
        (tmp_path / "list.txt").write_text("\n".join(lines) + "\n")
        return data.ImageBatchIter(
            str(tmp_path / "list.txt"),
            2,
            transform or (lambda path: [image_tool.load_img(path)]),
            image_folder=str(tmp_path),
            **options,
        )

    def test_in_order_without_end(self, tmp_path):
        threads = threading.active_count()
        batches = self.batches(
            tmp_path, ["0.png 5", "1.png 6", "2.png -7"], shuffle=False, capacity=1
        )
        assert batches.num_samples == 3
        batches.start()
        (x, y), (_, z) = next(batches), next(batches)
        batches.end()
        assert x.shape == (2, 3, 1, 2) and x.dtype == np.float32 and y.dtype == np.int32
        assert x[:, :, 0, 0].tolist() == [[0, 10, 20], [1, 10, 20]]
        assert y.tolist() == [5, 6] and z.tolist() == [-7, 5]
        assert threading.active_count() == threads
        with pytest.raises(AssertionError, match="start"):
            next(batches)

    def test_shuffled(self, tmp_path):
        batches = self.batches(tmp_path, ["0.png,0", "1.png,1", "2.png,2"], delimiter=",")
        batches.start()
        with pytest.raises(RuntimeError, match="already"):
            batches.start()
        labels = np.concatenate([y for _, (_, y) in zip(range(3), batches, strict=False)])
        batches.end()
        assert sorted(labels[:3]) == sorted(labels[3:]) == [0, 1, 2]

    def test_other_labels(self, tmp_path):
        batches = self.batches(tmp_path, ["0.png cat", "1.png"], shuffle=False)
        batches.start()
        assert next(batches)[1] == ["cat", None]
        batches.end()

    @pytest.mark.parametrize(("count", "error"), [(3, AssertionError), (0, AssertionError)])
    def test_wrong_numbers_of_images(self, tmp_path, count, error):
        batches = self.batches(tmp_path, ["0.png 0"], lambda path: [ramp()] * count)
        batches.start()
        with pytest.raises(error, match=f"made {count} images for 2 places"):
            next(batches)

    def test_a_missing_image(self, tmp_path):
        batches = self.batches(tmp_path, ["9.png 0"])
        batches.start()
        with pytest.raises(FileNotFoundError):
            next(batches)

    def test_an_empty_list(self, tmp_path):
        with pytest.raises(ValueError, match="lists no images"):
            self.batches(tmp_path, [])
