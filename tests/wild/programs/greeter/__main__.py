import sys

from . import model


def main():
    print(sys.argv[1:], __package__, f"{model.trained(20):.4f}")
    return 5 if "--fail" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
